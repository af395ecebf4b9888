package sample

import "strings"

type league struct {
	code, name string
	tag        tag
}

// All teams, clubs, people, films, bills and companies are invented.
var (
	leagues = []league{
		{"cbl", "CBL", tag{"28", "Basketball", "basketball"}},
		{"ufl", "UFL", tag{"10", "Football", "football"}},
		{"nhk", "NHK", tag{"100088", "Hockey", "hockey"}},
		{"lol", "Legends League", tag{"64", "Esports", "esports"}},
	}
	places = []string{
		"Albany", "Boise", "Carson", "Dayton", "Eugene", "Fresno", "Galveston", "Hartford", "Irvine", "Juneau", "Knoxville", "Laredo",
		"Madison", "Norfolk", "Omaha", "Provo", "Quincy", "Raleigh", "Savannah", "Tacoma", "Utica", "Vallejo", "Wichita", "Yonkers",
	}
	nicknames = []string{
		"Gulls", "Miners", "Comets", "Foxes", "Pilots", "Herons", "Anvils", "Tides", "Badgers", "Rockets", "Cranes", "Otters",
		"Lanterns", "Stags", "Cyclones", "Harbors", "Sparks", "Wolves", "Pioneers", "Lynx", "Drakes", "Mariners", "Owls", "Bolts",
	}
	clubs = []string{
		"Ashford Rovers", "Brackley Town", "Corvale United", "Dunmore Athletic", "Eastmere FC", "Fairholt City", "Glenbrook FC", "Harrow Vale",
		"Ironbridge FC", "Kestrel Park", "Langley Albion", "Merrow County", "Northgate FC", "Oakhurst Wanderers", "Penrose FC", "Quayside Rangers",
	}
	states = []string{
		"Ohio", "Arizona", "Georgia", "Maine", "Nevada", "Wisconsin", "Michigan", "Virginia", "Oregon", "Iowa", "Kansas", "Montana",
		"Colorado", "Utah", "Texas", "Alaska", "Vermont", "Indiana",
	}
	offices     = []string{"governor race", "Senate special election", "Senate primary", "mayoral runoff", "House special election", "attorney general race"}
	givenNames  = []string{"Dana", "Marcus", "Ellen", "Theo", "Ruth", "Victor", "Nadia", "Owen", "Priya", "Caleb", "Ines", "Graham", "Lena"}
	familyNames = []string{
		"Whitlock", "Amaro", "Bergstrom", "Calloway", "Dresner", "Eastman", "Farrow", "Gantry", "Holloway", "Ishikawa", "Jarrett", "Kessler",
		"Lindqvist", "Moreau", "Novak", "Okafor", "Pembroke", "Quintero", "Rasmussen",
	}
	bills = []string{
		"Rural Broadband", "Grid Resilience", "Port Security", "Student Relief", "Clean Harbors", "Digital Assets Clarity", "Border Staffing",
		"Farm Credit", "Veterans Housing", "Airline Refund", "Water Storage", "Data Privacy",
	}
	chambers  = []string{"House", "Senate"}
	companies = []string{"Alder Labs", "Boreal AI", "Cobalt Systems", "Dovetail", "Ember Robotics", "Fathom", "Granite Compute", "Helio"}
	products  = []string{"a new flagship model", "a household robot", "a phone", "its agent to all users", "an open-weights model", "a developer console"}
	fields    = []string{"AI model", "coding model", "image model", "humanoid robot"}
	countries = []string{"Canada", "India", "Brazil", "Japan", "Norway", "Kenya", "Chile", "Vietnam", "Mexico", "Morocco", "Indonesia", "Switzerland"}
	treaties  = []string{"a trade agreement", "a fisheries treaty", "a visa waiver", "a defence pact", "an extradition treaty"}
	banks     = []string{"Fed", "ECB", "Bank of England", "Bank of Japan", "Bank of Canada", "Norges Bank", "Bank of Mexico"}
	filmFirst = []string{"The Last", "Return to", "Beyond the", "A Winter in", "Midnight", "Children of", "The Secret of", "Escape from"}
	filmLast  = []string{"Lighthouse", "Meridian", "Orchard", "Cartographer", "Salt Road", "Observatory", "Ravine", "Glass City", "Ferryman"}
)

type coin struct {
	name, symbol string
	price, step  int64 // dollars; in cents if cents is true
	cents        bool
	tag          tag
}

var coins = []coin{
	{"Bitcoin", "BTC/USDT", 96_000, 2000, false, tag{"235", "Bitcoin", "bitcoin"}},
	{"Ethereum", "ETH/USDT", 3200, 100, false, tag{"39", "Ethereum", "ethereum"}},
	{"Solana", "SOL/USDT", 160, 10, false, tag{"818", "Solana", "solana"}},
	{"XRP", "XRP/USDT", 220, 10, true, tag{"101267", "XRP", "xrp"}},
}

func team(league, place int) string {
	return places[place] + " " + nicknames[(place+league*5)%len(nicknames)]
}

// abbreviation is the first three letters of a team's name, as in the slugs of games.
func abbreviation(team string) string { return strings.ToLower(team[:3]) }
