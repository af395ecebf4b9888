package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/upstream/fetch"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/openmeteo"
	"pmx/data/upstream/pages"
	"pmx/engine/guard"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// weatherLane is the source weather among those that are followed.
const weatherLane = "weather"

// weatherFlags are the services of the weather.
type weatherFlags struct {
	OpenMeteo string `name:"openmeteo" help:"Forecasts and past days. For any other URL, the other services must be below its /ensemble, /archive and /previous." default:"https://api.open-meteo.com" placeholder:"URL"`
	METAR     string `name:"metar" help:"Weather reports of airports." default:"https://aviationweather.gov" placeholder:"URL"`
	NWS       string `name:"nws" help:"Observations in the United States." default:"https://api.weather.gov" placeholder:"URL"`
}

// openMeteoBase is the host of Open-Meteo's forecasts; its other services have separate hosts.
const openMeteoBase = "https://api.open-meteo.com"

// openMeteoBases returns the base URLs of the services, which share one host if it is not
// Open-Meteo's.
func openMeteoBases(base string) map[openmeteo.Service]string {
	if base == openMeteoBase {
		return map[openmeteo.Service]string{openmeteo.Forecast: base, openmeteo.Ensemble: "https://ensemble-api.open-meteo.com",
			openmeteo.Archive: "https://archive-api.open-meteo.com", openmeteo.PreviousRuns: "https://previous-runs-api.open-meteo.com"}
	}
	return map[openmeteo.Service]string{openmeteo.Forecast: base, openmeteo.Ensemble: base + "/ensemble", openmeteo.Archive: base + "/archive",
		openmeteo.PreviousRuns: base + "/previous"}
}

// Limits of requests to the weather's hosts, well below what they allow.
var (
	openMeteoBudget = fetch.Budget{PerSecond: 1, Burst: 2, InFlight: 1}
	metarBudget     = fetch.Budget{PerSecond: 0.5, Burst: 10, InFlight: 1}
	nwsBudget       = fetch.Budget{PerSecond: 1, Burst: 10, InFlight: 1}
)

// newWeather makes the lane of the weather; host makes its hosts.
func (f *weatherFlags) newWeather(k *keeper.Keeper, log zerolog.Logger, watch *guard.Watch, host func(name, base string, budget fetch.Budget) (*fetch.Host, error)) (*follow.Weather, error) {
	places, err := cities(k.DB().Dir())
	if err != nil {
		return nil, err
	}
	services := map[openmeteo.Service]pages.Asker{}
	for service, base := range openMeteoBases(f.OpenMeteo) {
		if services[service], err = host("openmeteo "+strings.ReplaceAll(string(service), "-", " "), base, openMeteoBudget); err != nil {
			return nil, err
		}
	}
	reports, err := host("metar", f.METAR, metarBudget)
	if err != nil {
		return nil, err
	}
	stations, err := host("nws", f.NWS, nwsBudget)
	if err != nil {
		return nil, err
	}
	return follow.NewWeather(follow.WeatherOptions{Venue: k, Cities: places, OpenMeteo: openmeteo.New(services, nil), METAR: metar.New(reports),
		NWS: nws.New(stations), Log: log, Watch: watch})
}

// printWeather writes the rows of the sources of the weather.
func printWeather(w io.Writer, sources []follow.WeatherStatus) {
	for _, s := range sources {
		odd := int64(len(s.Silent))
		for _, n := range s.Unknown {
			odd += n
		}
		for _, n := range s.Rejected {
			odd += n
		}
		lag := (time.Duration(s.LagSeconds) * time.Second).String()
		rows := count(s.Rows, "value")
		if s.Phase == follow.Stopped { // there are no counts
			rows = ""
		}
		_, _ = fmt.Fprintf(w, "weather: %s\t%s\t%s\t%s\t\t%s\t%d\t%s\n", s.Source, s.Phase, atOrNever(s.LastAnswer), lag, rows, odd, visible(s.Error, ""))
	}
}
