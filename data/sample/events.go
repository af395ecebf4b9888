package sample

import (
	"fmt"
	"strconv"
	"time"
)

var yesNo = [2]string{"Yes", "No"}

// tags of the categories, with Gamma's ids if they are widely known.
var (
	tagSports   = tag{"1", "Sports", "sports"}
	tagPolitics = tag{"2", "Politics", "politics"}
	tagCrypto   = tag{"21", "Crypto", "crypto"}
	tagWeather  = tag{"84", "Weather", "weather"}
	tagEconomy  = tag{"100328", "Economy", "economy"}
	tagTech     = tag{"1401", "Tech", "tech"}
	tagCulture  = tag{"596", "Culture", "pop-culture"}
	tagWorld    = tag{"101970", "World", "world"}
	tagGames    = tag{"100639", "Games", "games"}
)

func longDate(t time.Time) string { return t.Format("January 2, 2006") }

// single returns an event with one market.
func single(c category, title, rules string, outcomes [2]string, prior int64, tags ...tag) *event {
	e := &event{category: c, title: title, slug: slugOf(title), description: rules, tags: tags}
	e.markets = []*market{{question: title, outcomes: outcomes, prior: prior}}
	return e
}

// pick returns a random element of a list.
func pick(r *rng, list []string) string { return list[r.below(len(list))] }

// pair returns two different random indexes below n.
func (p *planner) pair(n int) (int, int) {
	a := p.r.below(n)
	b := p.r.below(n - 1)
	if b >= a {
		b++
	}
	return a, b
}

// rivals returns the prior chances of n rivals in millionths, in descending order. They add up to
// 985,000: in a few events none of the rivals wins.
func (p *planner) rivals(n int) []int64 {
	out, sum := make([]int64, n), int64(0)
	for i := range out {
		out[i] = int64(200+p.r.below(1000)) * 1000 / int64(1+i)
		sum += out[i]
	}
	for i := range out {
		out[i] = max(1000, out[i]*985_000/sum)
	}
	return out
}

// game is a game of two teams, whose names are the outcomes. One game in 40 is cancelled and pays
// half to each.
func (p *planner) game() *event {
	league := p.r.below(len(leagues))
	a, b := p.pair(len(places))
	home, away := team(league, a), team(league, b)
	open, closing := p.window(48, 170)
	p.games++
	off := p.games%40 == 3
	if off { // early enough to be paid out before the venue ends
		closing = 24 + p.r.below(p.hours-120)
		open = max(0, closing-100)
	}
	day := p.at(closing)
	title := away + " vs. " + home
	e := single(sports, title, fmt.Sprintf("In the upcoming %s game scheduled for %s, this market resolves to the winning team. "+
		"If the game is cancelled with no make-up game, it resolves 50-50.", leagues[league].name, longDate(day)),
		[2]string{away, home}, int64(150_000+p.r.below(700_000)), tagSports, tagGames, leagues[league].tag)
	e.slug = fmt.Sprintf("%s-%s-%s-%s", leagues[league].code, abbreviation(away), abbreviation(home), day.Format(time.DateOnly))
	e.series, e.seriesTitle = leagues[league].code+"-2026", leagues[league].name+" 2026"
	e.openHour, e.closeHour = open, closing
	e.gameStart = day.Add(-3 * time.Hour).Unix()
	p.decide(e)
	if off {
		e.markets[0].result = split
	}
	return e
}

// soccer is a match that may end in a draw: three NegRisk questions.
func (p *planner) soccer() *event {
	a, b := p.pair(len(clubs))
	home, away := clubs[a], clubs[b]
	e := &event{category: sports, title: home + " vs. " + away, negRisk: true, tags: []tag{tagSports, tagGames, {"100350", "Soccer", "soccer"}}}
	e.openHour, e.closeHour = p.window(60, 200)
	day := p.at(e.closeHour)
	iso := day.Format(time.DateOnly)
	e.slug = fmt.Sprintf("soc-%s-%s-%s", abbreviation(home), abbreviation(away), iso)
	e.series, e.seriesTitle = "premier-cup", "Premier Cup"
	e.gameStart = day.Add(-2 * time.Hour).Unix()
	e.description = "This market refers to the match of " + longDate(day) + " after 90 minutes plus stoppage time."
	strength := int64(150_000 + p.r.below(500_000))
	e.markets = []*market{
		{question: fmt.Sprintf("Will %s win on %s?", home, iso), group: home, prior: strength},
		{question: fmt.Sprintf("Will %s vs. %s end in a draw?", home, away), group: "Draw", prior: 230_000},
		{question: fmt.Sprintf("Will %s win on %s?", away, iso), group: away, prior: 770_000 - strength},
	}
	return p.yesNo(e)
}

// yesNo names the outcomes of all markets of an event and draws its results.
func (p *planner) yesNo(e *event) *event {
	for _, m := range e.markets {
		m.outcomes = yesNo
	}
	p.decide(e)
	return e
}

// noon draws a coin and a trading window of hours to twice as many hours, which ends at noon, New
// York winter time.
func (p *planner) noon(hours int) (c coin, open, closing int) {
	open, closing = p.window(hours, hours*2)
	return coins[p.r.below(len(coins))], open, closing/24*24 + 17
}

// strikes asks for each of several prices whether a coin will be above it on a day. The results are
// consistent.
func (p *planner) strikes(c coin, open, closing int) *event {
	e := &event{category: crypto, tags: []tag{tagCrypto, c.tag, {"102264", "Weekly", "weekly"}}}
	e.openHour, e.closeHour = open, closing
	day := p.at(closing)
	date := day.Format("January 2")
	e.title = c.name + " above ___ on " + date + "?"
	e.slug = fmt.Sprintf("%s-above-on-%s", slugOf(c.name), slugOf(day.Format("January 2 2006")))
	e.series, e.seriesTitle = slugOf(c.name)+"-multi-strikes-weekly", c.name+" Multi Strikes Weekly"
	e.description = fmt.Sprintf("Each question resolves to Yes if the close of the 12:00 ET one-minute candle of %s is above the price in its title.", c.symbol)
	n := 5 + 2*p.r.below(4)
	spot := c.price * int64(850+p.r.below(300)) / 1000 / c.step * c.step
	for i := range n {
		price := "$" + grouped(spot+int64(i-n/2)*c.step, c.cents)
		e.markets = append(e.markets, &market{question: fmt.Sprintf("Will the price of %s be above %s on %s?", c.name, price, date),
			group: price[1:], prior: min(max(p.normal.at(float64(n/2-i)/2.2), 3000), 997_000)})
	}
	return p.yesNo(e)
}

// grouped writes a price with thousands separators: 98000 as 98,000, and 212
// cents as 2.12.
func grouped(v int64, cents bool) string {
	if cents {
		return fmt.Sprintf("%d.%02d", v/100, v%100)
	}
	s := strconv.FormatInt(v, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// upOrDown asks whether a coin rises or falls in a day.
func (p *planner) upOrDown(c coin, open, closing int) *event {
	day := p.at(closing)
	e := single(crypto, fmt.Sprintf("%s Up or Down on %s?", c.name, day.Format("January 2")),
		"This market resolves to Up if the 12:00 ET close of "+c.symbol+" is higher than the day before, and to Down otherwise.",
		[2]string{"Up", "Down"}, int64(470_000+p.r.below(60_000)), tagCrypto, c.tag, tag{"102127", "Up or Down", "up-or-down"})
	e.slug = fmt.Sprintf("%s-up-or-down-on-%s", slugOf(c.name), slugOf(day.Format("January 2 2006")))
	e.series, e.seriesTitle = slugOf(c.name)+"-up-or-down-daily", c.name+" Up or Down Daily"
	e.openHour, e.closeHour = open, closing
	p.decide(e)
	return e
}
