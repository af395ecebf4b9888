package chain

import "pmx/data"

// event is what the first topic of a log says.
type event uint8

const (
	unknownEvent event = iota
	filledV1
	filledV2
	feeRefunded
	conditionResolution
	conditionResolved
	syntheticYes
	remainingNo
	migrationResolved
	notRead // one of notReadEvents
)

// readEvents are the events that are read, by the Keccak-256 of their signatures.
var readEvents = map[string]event{
	// OrderFilled(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)
	"d0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6": filledV1,
	// OrderFilled(bytes32,address,address,uint8,uint256,uint256,uint256,uint256,bytes32,bytes32)
	"d543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee": filledV2,
	// FeeRefunded(bytes32,address,uint256,uint256,uint256)
	"b608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24": feeRefunded,
	// ConditionResolution(bytes32,address,bytes32,uint256,uint256[])
	"b44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894": conditionResolution,
	// ConditionResolved(bytes31,uint256[])
	"e560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa": conditionResolved,
	// SyntheticConditionDerivableAsYes(bytes29,bytes31)
	"5bea118d92630445b0b401b6883731630ed870edf2f259980efe977dfc128b36": syntheticYes,
	// RemainingConditionsDerivableAsNo(bytes29)
	"7b4e633936952f2babe4b4b548a8ccb384cdfdf1a95247fbacd18e387b490502": remainingNo,
	// MigrationResolved(bytes31,bytes32,uint256,uint256,uint256,uint256): says which condition has the payouts of
	// protocol V1
	"f87100968b0fe70751acf87590ffac515231c5b999cba36e6820c7d312dcc8af": migrationResolved,
}

// notReadEvents are known events that are skipped, with the reason under which they are counted.
var notReadEvents = map[string]string{
	// OrdersMatched(bytes32,address,uint256,uint256,uint256,uint256): the taker's row once more
	"63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c": "orders_matched",
	// OrdersMatched(bytes32,address,uint8,uint256,uint256,uint256)
	"174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c": "orders_matched",
	// FeeCharged(address,uint256,uint256): what the exchange took, which is also in OrderFilled
	"acffcc86834d0f1a64b0d5a675798deed6ff0bcfc2231edd3480e7288dba7ff4": "fee_charged",
	// FeeCharged(address,uint256)
	"55bb3cade9d43b798a4fe5ffdd05024b2d7870df53920673bfc7e68047cd0ab1": "fee_charged",
	// TokenRegistered(uint256,uint256,bytes32): emitted for both orders of the two tokens
	"bc9a2432e8aeb48327246cddd6e872ef452812b4243c04e6bfb786a2cd8faf0d": "token_registered",
	// OrderCancelled(bytes32)
	"5152abf959f6564662358c2e52b702259b78bac5ee7842a0f01937e670efcc7d": "order_cancelled",
	// ConditionPreparation(bytes32,address,bytes32,uint256)
	"ab3760c3bd2bb38b5bcf54dc79802ed67338b4cf29f3054ded67ed24661e4177": "condition_preparation",
	// PositionSplit(address,address,bytes32,bytes32,uint256[],uint256)
	"2e6bb91f8cbcda0c93623c54d0403a43514fabc40084ec96b6d5379a74786298": "split",
	// PositionSplit(address,bytes32,uint256)
	"bbed930dbfb7907ae2d60ddf78345610214f26419a0128df39b6cc3d9e5df9b0": "split",
	// PositionsSplit(address,bytes31,address,address,uint256)
	"b6a6b8b17a43b07b9359dd12d304e42077eede9e672f8646144842c8604582a4": "split",
	// HorizontalSplit(address,bytes29,address,uint256)
	"9dbee20759d31417e9b0d739e07904f87139522ce89cf2f6ad78e299067674ce": "split",
	// PositionsMerge(address,address,bytes32,bytes32,uint256[],uint256)
	"6f13ca62553fcc2bcd2372180a43949c1e4cebba603901ede2f4e14f36b282ca": "merge",
	// PositionsMerge(address,bytes32,uint256)
	"ba33ac50d8894676597e6e35dc09cff59854708b642cd069d21eb9c7ca072a04": "merge",
	// PositionsMerged(address,bytes31,address,uint256)
	"f233f7be4ce81130a78e8eb2fa626497586c56094d27bfec2e196471e9c60301": "merge",
	// HorizontalMerge(address,bytes29,address,uint256)
	"bfdd473162148936b92fc229a1d66bcded27968d61ec543cbd86b433fd2d7b4b": "merge",
	// PayoutRedemption(address,address,bytes32,bytes32,uint256[],uint256)
	"2682012a4a4f1973119f1c9b90745d1bd91fa2bab387344f044cb3586864d18d": "redemption",
	// PayoutRedemption(address,bytes32,uint256[],uint256)
	"9140a6a270ef945260c03894b3c6b3b2695e9d5101feef0ff24fec960cfd3224": "redemption",
	// PositionRedeemed(address,uint256,address,uint256,uint256)
	"4fd474b703f46b453536518b4cbc159dfbea6fd663233763d321a9bc8ccdf97f": "redemption",
	// Redemption(address,uint256,uint256)
	"eebddeddf4ae1ee54a48517af27958e7666d69c7ba2e3e7c2b0ff87ef5f4491e": "redemption",
	// PositionsConverted(address,bytes32,uint256,uint256)
	"b03d19dddbc72a87e735ff0ea3b57bef133ebe44e1894284916a84044deb367e": "conversion",
	// PositionConverted(address,bytes29,address,uint256,uint256)
	"975e919c2cacb75b8a9fc78ddf455a5211812df2f388c877c8d3adfe156e2779": "conversion",
	// Transfer(address,address,uint256)
	"ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef": "transfer",
	// TransferSingle(address,address,address,uint256,uint256)
	"c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62": "transfer",
	// TransferBatch(address,address,address,uint256[],uint256[])
	"4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb": "transfer",
	// ApprovalForAll(address,address,bool)
	"17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31": "approval",
	// MarketPrepared(bytes32,address,uint256,bytes)
	"f059ab16d1ca60e123eab60e3c02b68faf060347c701a5d14885a8e1def7b3a8": "preparation",
	// QuestionPrepared(bytes32,bytes32,uint256,bytes)
	"aac410f87d423a922a7b226ac68f0c2eaf5bf6d15e644ac0758c7f96e2c253f7": "preparation",
	// OutcomeReported(bytes32,bytes32,bool): ConditionResolution of the same transaction has the payouts
	"9e9fa7fd355160bd4cd3f22d4333519354beff1f5689bde87f2c5e63d8d484b2": "outcome_reported",
	// MigrationConditionRegistered(bytes31,bytes32)
	"0da49435dfd3b856758ee0b1a2500f1e8062fed24dd654594af9fa163cc5bcb4": "migration",
	// PositionMigrated(address,bytes31,uint256,uint256,uint256)
	"e8d329e97d555e1e9d0da49d3b12d41a966458eee02ff4c869e54c6711d7c80b": "migration",
}

// topic is what is known of a first topic.
type topic struct {
	event event
	why   string // of notRead
}

// topics returns both tables by the bytes of the topic.
func topics() map[data.Hash]topic {
	all := make(map[data.Hash]topic, len(readEvents)+len(notReadEvents))
	put := func(hex string, t topic) {
		h, err := data.ParseHash(hex)
		if err != nil {
			panic(err) // a constant above is not a hash: the first test finds it
		}
		all[h] = t
	}
	for hex, e := range readEvents {
		put(hex, topic{event: e})
	}
	for hex, why := range notReadEvents {
		put(hex, topic{event: notRead, why: why})
	}
	return all
}
