package replay

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Faults are the faults of a source.
type Faults struct {
	// Names are names of Kinds, each by itself or followed by a colon and a number, which replaces
	// Number. One of them is drawn for each request that has a fault. "all" stands for all faults
	// of the source that add nothing to the venue. Later names override earlier ones: "all",
	// "stalled:200", "-closed" means all, one of them with another number, except closed.
	Names []string
	// Rate is the share of requests with a fault, 0 to 1; 0 means a tenth if there are Names.
	Rate float64
}

// Kind is a kind of fault.
type Kind struct {
	Name   string
	About  string
	Of     string // the source, "" for all that are served over HTTP
	Number int64  // the default of the number after the name
	// Adds is set for faults that add something to the venue, such as fills of tokens of an unknown
	// module.
	Adds bool
}

// Fault is a kind with its number.
type Fault struct {
	Kind
	rng *rand.Rand
}

// transport reports whether the fault affects how the response is sent, not what it says.
func (f *Fault) transport() bool { return f.Of == "" }

// is reports whether f is not nil and has one of the names.
func (f *Fault) is(names ...string) bool { return f != nil && slices.Contains(names, f.Name) }

// sources are the simulated sources, by the first part of their paths.
var sources = []string{"rpc", "gamma", "clob", "data", "openmeteo", "metar", "nws", "ws"}

// Kinds returns all kinds of faults.
func Kinds() []Kind {
	return slices.Concat(transportFaults, rpcFaults, gammaFaults, clobFaults, dataFaults, weatherFaults, socketFaults)
}

// find returns the kinds that a name stands for at a source.
func find(name, source string) ([]Kind, error) {
	name, number, numbered := strings.Cut(name, ":")
	if name == "all" {
		return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Adds || !k.at(source) }), nil
	}
	all := Kinds()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no fault is called %q", name)
	}
	k := all[i]
	if numbered {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("fault %s: %q is not a number of at least 0", name, number)
		}
		k.Number = n
	}
	if !k.at(source) {
		return nil, fmt.Errorf("%s is not a fault of %s, but of %s", name, source, cmp.Or(k.Of, "sources served over HTTP"))
	}
	return []Kind{k}, nil
}

func (k *Kind) at(source string) bool {
	source, _, _ = strings.Cut(source, "/")
	return k.Of == source || k.Of == "" && source != "ws" || source == ""
}

// plans are the faults of all sources.
type plans struct {
	mu    sync.Mutex
	rng   *rand.Rand
	by    map[string]plan
	drawn map[string]int64 // by name, and by source and name
}

type plan struct {
	kinds []Kind
	rate  float64
}

func newPlans(seed uint64, by map[string]Faults) (*plans, error) {
	p := &plans{rng: rand.New(rand.NewPCG(seed, 0x7265706c6179)), by: map[string]plan{}, drawn: map[string]int64{}}
	for source, f := range by {
		if err := p.set(source, f); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *plans) set(source string, f Faults) error {
	if f.Rate < 0 || f.Rate > 1 {
		return fmt.Errorf("faults of %q: the rate %g is not between 0 and 1", source, f.Rate)
	}
	if own, _, _ := strings.Cut(source, "/"); own != "" && !slices.Contains(sources, own) {
		return fmt.Errorf("unknown source %q: use %s", source, strings.Join(sources, ", "))
	}
	next := plan{rate: f.Rate}
	if next.rate == 0 {
		next.rate = 0.1
	}
	for _, name := range f.Names {
		if name == "none" {
			continue
		}
		name, without := strings.CutPrefix(name, "-")
		kinds, err := find(name, source)
		if err != nil {
			return err
		}
		next.kinds = slices.DeleteFunc(next.kinds, func(k Kind) bool {
			return slices.ContainsFunc(kinds, func(other Kind) bool { return other.Name == k.Name })
		})
		if !without {
			next.kinds = append(next.kinds, kinds...)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by[source] = next
	return nil
}

// forgetParts removes the faults of the parts of a source.
func (p *plans) forgetParts(source string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.by, func(name string, _ plan) bool {
		return name != source && (source == "" || strings.HasPrefix(name, source+"/"))
	})
}

// draw returns the fault of the next request of a source; nil for none.
func (p *plans) draw(source string) *Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, _, _ := strings.Cut(source, "/")
	mine, ok := p.by[source]
	if !ok {
		mine, ok = p.by[own]
	}
	if !ok {
		mine = p.by[""]
	}
	fit := make([]Kind, 0, len(mine.kinds))
	for _, k := range mine.kinds {
		if k.at(source) {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 || p.rng.Float64() >= mine.rate {
		return nil
	}
	k := fit[p.rng.IntN(len(fit))]
	p.drawn[k.Name]++
	p.drawn[source+" "+k.Name]++
	return &Fault{Kind: k, rng: rand.New(rand.NewPCG(p.rng.Uint64(), p.rng.Uint64()))}
}

// SetFaults replaces the faults of a source and of its parts from now on: rpc includes rpc/1, and
// "" is every source, whatever faults they had before.
func (s *Server) SetFaults(source string, f Faults) error {
	if err := s.faults.set(source, f); err != nil {
		return err
	}
	s.faults.forgetParts(source)
	return nil
}

// Drawn returns how often faults were drawn, by name, and by source and name with a space between.
func (s *Server) Drawn() map[string]int64 {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := make(map[string]int64, len(s.faults.drawn))
	for k, n := range s.faults.drawn {
		out[k] = n
	}
	return out
}
