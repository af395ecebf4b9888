package pmx_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// formerNames are former identifiers whose words had several meanings, with their replacements. In
// the glossary of docs/design.md each word has one meaning.
var formerNames = map[string]string{
	"AuditState":    "AuditStatus",
	"BackupState":   "BackupStatus",
	"Board":         "RankedList",
	"BoardRow":      "LeaderboardRow",
	"BoardSort":     "LeaderboardSort",
	"Boards":        "Leaderboards",
	"BookPart":      "QuoteBidAsk",
	"CandlePart":    "PartialCandle",
	"ChainState":    "ChainStatus",
	"KeepBoards":    "KeepLeaderboards",
	"LakePart":      "LakeStep",
	"LastPart":      "QuoteLast",
	"LiquidityPart": "QuoteLiquidity",
	"MarketsState":  "MarketsStatus",
	"NewBoards":     "NewLeaderboards",
	"NewestFeed":    "NewestCoverage",
	"NoParts":       "NoComponents",
	"NodeState":     "NodeStatus",
	"OracleBoard":   "OracleLeaderboard",
	"PMXPart":       "PMXContribution",
	"PartBlank":     "LineBlank",
	"PartHeader":    "LineHeader",
	"PartLater":     "LineLater",
	"PartRecord":    "LineRecord",
	"PartRemark":    "LineRemark",
	"PartRows":      "FileRows",
	"QuoteParts":    "QuoteFields",
	"QuotesState":   "QuotesStatus",
	"RankBoard":     "RankLeaderboard",
	"SetFeed":       "SetCoverage",
	"StatusPart":    "GradeHistory",
	"TradesState":   "TradesStatus",
	"WeatherState":  "WeatherStatus",
	"WhaleBoard":    "WhaleLeaderboard",
	"WhalePieces":   "WhaleChunks",
	"addBook":       "addSums",
	"addViews":      "addExplorer",
	"answerParts":   "answerList",
	"askParts":      "askSplit",
	"batchParts":    "batchKinds",
	"boardKey":      "leaderboardKey",
	"boardPart":     "leaderboardKey",
	"boardRows":     "leaderboardRows",
	"boardSet":      "leaderboardSet",
	"bookReader":    "sumReader",
	"dayState":      "dayActivity",
	"followState":   "followStatus",
	"hourState":     "hourActivity",
	"imagePart":     "imagePiece",
	"imageParts":    "imagePieces",
	"liveState":     "liveData",
	"marketsPart":   "marketsPiece",
	"partIf":        "statementIf",
	"partReader":    "metadataReader",
	"partRows":      "fileRows",
	"parting":       "chunker",
	"quoteParts":    "quoteFields",
	"readParts":     "readKinds",
	"readState":     "readProgress",
	"sampleParts":   "sampleFiles",
	"serveState":    "serveOverview",
	"stateAt":       "stageAt",
	"stateOfKey":    "validityOf",
	"tokenState":    "tokenLifetime",
	"viewAt":        "explorerAt",
	"walletsPart":   "walletsPiece",
	"wholeBook":     "wholePortfolio",
	"widePart":      "overflow",
}

// quaint are words that are not used in documentation today, with plainer ones.
var quaint = map[string]string{
	"anew":   "again",
	"lest":   "so that … not",
	"naught": "nothing",
	"whence": "from where",
}

var word = regexp.MustCompile(`\b[A-Za-z]+\b`)

// TestWordsHaveOneMeaning refuses former names, and quaint words. Migrations stay as they were
// published.
func TestWordsHaveOneMeaning(t *testing.T) {
	files := sourceFiles(t, func(name string) bool {
		return name != "words_test.go" && name != "CHANGELOG.md" && slices.ContainsFunc([]string{".go", ".sql", ".md"}, func(ext string) bool { return strings.HasSuffix(name, ext) })
	})
	for _, file := range files {
		if strings.HasPrefix(file, "engine/schema/migrations/") {
			continue
		}
		for i, line := range strings.Split(read(t, file), "\n") {
			for _, w := range word.FindAllString(line, -1) {
				if better, ok := formerNames[w]; ok {
					t.Errorf("%s:%d: %s is called %s", file, i+1, w, better)
				}
				if better, ok := quaint[strings.ToLower(w)]; ok {
					t.Errorf("%s:%d: %q: write %q", file, i+1, w, better)
				}
			}
		}
	}
}

// typesOfAWord are the files that may have a type of the name state or part, in upper or lower case.
// A state is the whole database as of one commit, and a part could be one of anything.
var typesOfAWord = map[string][]string{
	"state": {"engine/replica.go", "rollups/replica/replica.go"},
	"part":  nil,
}

func TestTypesOfAWordHaveItsMeaning(t *testing.T) {
	declared := regexp.MustCompile(`(?im)^type (state|part)\b`)
	for _, file := range sourceFiles(t, func(name string) bool { return strings.HasSuffix(name, ".go") }) {
		for _, m := range declared.FindAllStringSubmatch(read(t, file), -1) {
			if !slices.Contains(typesOfAWord[strings.ToLower(m[1])], file) {
				t.Errorf("%s: call %q what it is", file, m[0])
			}
		}
	}
}

// TestGlossaryIsInOrder also keeps it to at most a page.
func TestGlossaryIsInOrder(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/design.md"), "\n## Glossary\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var terms []string
	for line := range strings.Lines(text) {
		if m := strings.SplitN(line, "**", 3); len(m) == 3 && m[0] == "- " {
			terms = append(terms, strings.ToLower(m[1]))
		}
	}
	if len(terms) < 20 || !slices.IsSorted(terms) {
		t.Errorf("terms of the glossary: %q", terms)
	}
	if n := strings.Count(text, "\n"); n > 50 {
		t.Errorf("the glossary has %d lines: a page has 50", n)
	}
}
