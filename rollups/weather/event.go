package weather

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// Listing is an event as the venue lists it, with its markets.
type Listing struct {
	ID          string // Gamma's decimal id
	Title       string
	Slug        string
	Series      string   // slug of its series
	Tags        []string // slugs
	Description string
	Resolution  string    // the resolutionSource field
	End         time.Time // nominal end; zero if unknown
	GameStart   time.Time // the local midnight at which the day begins; zero if unknown
	Markets     []Outcome
}

// Outcome is one market of a Listing.
type Outcome struct {
	Question string
	Label    string // groupItemTitle
	Slug     string
}

// Event is a Listing that is on the desk: one city's highest or lowest temperature of one local
// day. Two events may have the same city, metric and day: they are distinguished by ID and Slug.
type Event struct {
	ID, Slug string
	City     data.City
	Metric   data.Metric
	Day      data.Date
	Archived bool // its slug says that it was listed again
	Rules    Rules
	Brackets []Bracket // one per market, in the order of the listing
	Ladder   []int     // indexes into Brackets from the coldest up
}

// Why a listing is not on the desk.
var (
	ErrTitle = errors.New("the title is not a city's highest or lowest temperature of a day")
	ErrTag   = errors.New("neither a tag nor a series says that the event is a daily temperature")
	ErrCity  = errors.New("the city is not in the table")
	ErrDay   = errors.New("title, slug and end do not mean one day")
	ErrLabel = errors.New("a bracket cannot be read")
)

// deskTags are the tags of daily temperature events (Gamma ids 104596 and 103040,
// and the twin of the former for lows).
var deskTags = []string{"highest-temperature", "lowest-temperature", "daily-temperature"}

// seriesSuffix is the suffix of the slugs of the desk's series.
const seriesSuffix = "-daily-weather"

// OnDesk reports whether tags or series put an event on the desk; its title must match, too.
func (l *Listing) OnDesk() bool {
	return strings.HasSuffix(l.Series, seriesSuffix) ||
		slices.ContainsFunc(l.Tags, func(t string) bool { return slices.Contains(deskTags, t) })
}

// Parse reads a listing. The error, one of the above, says why it is not on the desk. A
// *LadderError says that its brackets do not cover all temperatures: then the Event is complete
// except for its Ladder.
func Parse(cities *data.Gazetteer, l Listing) (Event, error) {
	title, ok := ParseTitle(l.Title)
	if !ok {
		return Event{}, fmt.Errorf("%q: %w", l.Title, ErrTitle)
	}
	if !l.OnDesk() {
		return Event{}, fmt.Errorf("%q: %w", l.Title, ErrTag)
	}
	city, ok := cities.Named(title.Place)
	if !ok {
		return Event{}, fmt.Errorf("%q: %w", title.Place, ErrCity)
	}
	e := Event{ID: l.ID, Slug: l.Slug, City: city, Metric: title.Metric}
	if e.Day, e.Archived, ok = l.day(cities, title, city); !ok {
		return Event{}, fmt.Errorf("%q, %s, end %s: %w", l.Title, l.Slug, l.End.Format(time.RFC3339), ErrDay)
	}
	e.Rules = ParseRules(city, e.Day, l.Description, l.Resolution)
	if s, of, known := cities.Station(e.Rules.Station); known && of.Slug == city.Slug {
		e.Rules.Station = s.ID
	}
	if err := e.climb(cities, l.Markets); err != nil {
		return e, fmt.Errorf("%s: %w", l.Slug, err)
	}
	return e, nil
}

// day returns the local day that title, slug, end and game start agree on. A slug of another form
// says nothing; one of this form must not contradict.
func (l *Listing) day(cities *data.Gazetteer, title Title, city data.City) (day data.Date, archived, ok bool) {
	if slug, known := ParseSlug(l.Slug); known {
		other, found := cities.Named(slug.Place)
		if !found || other.Slug != city.Slug || slug.Metric != title.Metric || slug.Month != title.Month || slug.Day != title.Day ||
			slug.Year != 0 && title.Year != 0 && slug.Year != title.Year {
			return 0, false, false
		}
		archived = slug.Archived
		title.Year = max(title.Year, slug.Year)
	}
	switch {
	case !l.End.IsZero():
		day, ok = title.Date(data.DateOf(l.End.UTC()), true)
	case !l.GameStart.IsZero():
		day, ok = title.Date(city.DateOf(l.GameStart), true)
	default:
		day, ok = title.Date(0, false)
	}
	return day, archived, ok
}

// climb parses the brackets and sorts them. The event's scale is that of the labels, whatever its
// rules say.
func (e *Event) climb(cities *data.Gazetteer, markets []Outcome) error {
	e.Brackets = make([]Bracket, len(markets))
	for i, m := range markets {
		b, ok := e.bracket(cities, m)
		if !ok {
			return fmt.Errorf("%q, %q: %w", m.Label, m.Question, ErrLabel)
		}
		e.Brackets[i] = b
	}
	unit := e.Rules.Unit
	for _, b := range e.Brackets {
		if b.Unit != 0 {
			unit = b.Unit
		}
	}
	e.Rules.Unit = unit
	var err error
	e.Ladder, err = Ladder(e.Brackets, unit)
	return err
}

// bracket parses a market's bracket from its label, else its question, else its slug. A question
// about another city, metric or day is an error.
func (e *Event) bracket(cities *data.Gazetteer, m Outcome) (Bracket, bool) {
	asked, fromQuestion, isQuestion := ParseQuestion(m.Question)
	if isQuestion {
		city, _ := cities.Named(asked.Place)
		_, month, day := e.Day.Time().Date()
		if city.Slug != e.City.Slug || asked.Metric != e.Metric || asked.Month != month || asked.Day != day {
			return Bracket{}, false
		}
	}
	if b, ok := ParseLabel(m.Label); ok {
		return b, !isQuestion || fromQuestion.same(b)
	}
	if isQuestion {
		return fromQuestion, true
	}
	return ParseSlugBracket(m.Slug, e.Slug)
}

// same reports whether two brackets hold the same degrees; a missing scale matches any.
func (b Bracket) same(c Bracket) bool {
	if b.Unit == 0 || c.Unit == 0 {
		b.Unit, c.Unit = 0, 0
	}
	return b == c
}

// Settles returns the index of the bracket that a measured temperature falls into, rounded as the
// event's source rounds.
func (e *Event) Settles(t data.Temp) int {
	degrees := e.Rules.Rounding.Degrees(t, e.Rules.Unit)
	return slices.IndexFunc(e.Brackets, func(b Bracket) bool { return b.Holds(degrees) })
}

// Open reports whether an event can still be traded. Events that were left open by mistake cannot
// once their city's day is over.
func Open(day, today data.Date, active, closed bool) bool { return active && !closed && day >= today }

// Claim has the criteria for choosing one of several events of a city, metric and day.
type Claim struct {
	Archived bool
	Volume   data.Micro
	ID       string
}

// Canonical returns the index of the claim that is used for the day if one has to be chosen: the
// event that is not archived, then the one that was traded more, then the older id. -1 for no
// claims.
func Canonical(claims []Claim) int {
	best := -1
	for i, c := range claims {
		if best < 0 || c.before(claims[best]) {
			best = i
		}
	}
	return best
}

func (c Claim) before(d Claim) bool {
	switch {
	case c.Archived != d.Archived:
		return d.Archived
	case c.Volume != d.Volume:
		return c.Volume > d.Volume
	case len(c.ID) != len(d.ID):
		return len(c.ID) < len(d.ID)
	}
	return c.ID < d.ID
}
