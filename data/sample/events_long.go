package sample

import (
	"fmt"
	"time"
)

// election is a race of 3 to 12 candidates.
func (p *planner) election() *event {
	office := fmt.Sprintf("%s %s", pick(&p.r, states), pick(&p.r, offices))
	e := &event{category: politics, title: "Who will win the " + office + "?", negRisk: true,
		tags: []tag{tagPolitics, {"144", "Elections", "elections"}}}
	e.slug = slugOf(office + " winner")
	e.openHour, e.closeHour = p.window(24*14, max(24*15, p.hours*3/4))
	e.description = "This market resolves to the candidate who wins the " + office + ", according to the official result."
	given, family := p.r.below(len(givenNames)), p.r.below(len(familyNames))
	for i, prior := range p.rivals(3 + p.r.below(10)) {
		name := givenNames[(given+i*5)%len(givenNames)] + " " + familyNames[(family+i*7)%len(familyNames)]
		e.markets = append(e.markets, &market{question: fmt.Sprintf("Will %s win the %s?", name, office), group: name, prior: prior})
	}
	return p.yesNo(e)
}

// by asks whether something happens by a date: one market, which ends in No more often than in Yes.
func (p *planner) by(c category, what, rules string, tags ...tag) *event {
	open, closing := p.window(24*5, 24*60)
	day := p.at(closing)
	e := single(c, fmt.Sprintf("Will %s by %s?", what, day.Format("January 2")), rules+" The date is "+longDate(day)+", 11:59 PM ET.",
		yesNo, int64(30_000+p.r.below(620_000)), tags...)
	e.slug = slugOf("will " + what + " by " + day.Format("January 2 2006"))
	e.openHour, e.closeHour = open, closing
	p.decide(e)
	return e
}

func (p *planner) bill() *event {
	bill := fmt.Sprintf("the %s Act", pick(&p.r, bills))
	return p.by(politics, bill+" pass the "+pick(&p.r, chambers), "This market resolves to Yes if "+bill+" is passed by the chamber named.",
		tagPolitics, tag{"188", "Congress", "congress"})
}

func (p *planner) release() *event {
	company, product := pick(&p.r, companies), pick(&p.r, products)
	return p.by(tech, company+" release "+product, "This market resolves to Yes if the product is available to the public.",
		tagTech, tag{"439", "AI", "ai"})
}

func (p *planner) treaty() *event {
	a, b := p.pair(len(countries))
	return p.by(world, fmt.Sprintf("%s and %s sign %s", countries[a], countries[b], pick(&p.r, treaties)),
		"This market resolves to Yes if both governments announce the signature.", tagWorld, tag{"100265", "Geopolitics", "geopolitics"})
}

// rates is the next decision of a central bank.
func (p *planner) rates() *event {
	bank := pick(&p.r, banks)
	e := &event{category: economy, negRisk: true, tags: []tag{tagEconomy, {"702", "Interest Rates", "interest-rates"}}}
	e.openHour, e.closeHour = p.window(24*10, 24*70)
	month := p.at(e.closeHour).Format("January")
	e.title = bank + " decision in " + month + "?"
	e.slug = slugOf(bank + " decision in " + p.at(e.closeHour).Format("January 2006"))
	e.description = "This market resolves to the change of the policy rate announced after the " + month + " meeting."
	priors := []int64{30_000, 300_000, 610_000, 50_000}
	tilt := int64(p.r.below(500_000)) - 200_000
	priors[1], priors[2] = priors[1]+tilt, priors[2]-tilt
	for i, group := range []string{"50+ bps decrease", "25 bps decrease", "No change", "25+ bps increase"} {
		m := &market{question: fmt.Sprintf("%s: %s after the %s meeting?", bank, group, month), group: group, prior: priors[i]}
		e.markets = append(e.markets, m)
	}
	return p.yesNo(e)
}

// race asks which company is first at the end of a month.
func (p *planner) race() *event {
	e := &event{category: tech, negRisk: true, tags: []tag{tagTech, {"439", "AI", "ai"}}}
	e.openHour, e.closeHour = p.window(24*15, 24*50)
	e.closeHour = p.monthEnd(e.closeHour)
	last := p.at(e.closeHour - 1)
	month := last.Format("January")
	field := pick(&p.r, fields)
	e.title = fmt.Sprintf("Which company has the best %s end of %s?", field, month)
	e.slug = slugOf(fmt.Sprintf("which company has the best %s end of %s", field, last.Format("January 2006")))
	e.description = "This market resolves to the company at the top of the public ranking on the last day of the month."
	at := p.r.below(len(companies))
	for i, prior := range p.rivals(4 + p.r.below(4)) {
		name := companies[(at+i)%len(companies)]
		e.markets = append(e.markets, &market{question: fmt.Sprintf("Will %s have the best %s at the end of %s?", name, field, month),
			group: name, prior: prior})
	}
	return p.yesNo(e)
}

// boxOffice is a ladder of ranges for the revenue of a film's first weekend.
func (p *planner) boxOffice() *event {
	film := fmt.Sprintf("%s %s", pick(&p.r, filmFirst), pick(&p.r, filmLast))
	e := &event{category: culture, negRisk: true, tags: []tag{tagCulture, {"53", "Movies", "movies"}}}
	e.openHour, e.closeHour = p.window(24*4, 24*15)
	day := p.at(e.closeHour)
	e.title = fmt.Sprintf("%q opening weekend box office", film)
	e.slug = slugOf(film + " opening weekend box office " + day.Format(time.DateOnly))
	e.description = "This market resolves to the range that contains the three-day domestic gross, as the distributor reports it."
	low, step := 5*(2+p.r.below(12)), 5
	priors := []int64{130_000, 220_000, 300_000, 220_000, 130_000}
	for i, prior := range priors {
		lo, hi := low+i*step, low+(i+1)*step
		group := fmt.Sprintf("$%d–%dm", lo, hi)
		switch i {
		case 0:
			group = fmt.Sprintf("less than $%dm", hi)
		case len(priors) - 1:
			group = fmt.Sprintf("more than $%dm", lo)
		}
		e.markets = append(e.markets, &market{question: fmt.Sprintf("Will %q open at %s?", film, group), group: group, prior: prior})
	}
	return p.yesNo(e)
}
