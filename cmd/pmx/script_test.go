package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pmx/data/testfiles"
	"pmx/engine/enginetest"
)

func TestMain(m *testing.M) {
	for _, one := range oneThread() { // for commands in this process too; a script's command has an environment of its own
		name, value, _ := strings.Cut(one, "=")
		if _, given := os.LookupEnv(name); !given {
			if err := os.Setenv(name, value); err != nil {
				panic(err)
			}
		}
	}
	testscript.Main(m, map[string]func(){"pmx": main, "pmx-dies": mainThatDies})
}

// TestScripts runs testdata/script/*.txtar against the real main in processes of
// its own. Beside testscript's own commands a script has:
//
//	serve [FLAG…]               start pmx serve on a free port; $BASE is its base URL once it is ready, $ADDR its address
//	shutdown                    SIGTERM the server; it must end with status 0, and must have logged JSON alone
//	get STATUS PATH [KEY]       GET $BASE/PATH; the body becomes stdout
//	becomes WANT PATH [KEY]     GET $BASE/PATH until its body holds WANT
//	send STATUS METHOD PATH KEY [BODY]   as get, with another method and a JSON body
//	field NAME KEY              set $NAME to the string KEY (a.b: b within a) of the JSON object in the last line of stdout
//	status N WORDS…             run pmx WORDS…; it must exit with status N
//	interrupt N WORDS…          run pmx WORDS… with a standard input that never ends, SIGINT it once it has a spool; it must exit with status N
//	appears GLOB                wait until a file matches
//	old FILE                    set a file's modification time an hour back
//	migrated DIR…               make data directories with an empty database, which saves its migrations, in a short run
//	private DIR                 nobody but the owner has rights to the folder or to anything in it
//
// $LINES is how many lines of a file of fills are enough: a few days of them in a short run.
// What follows [long] is run in a long run alone, and what follows [!long] in a short one.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve": cmdServe, "shutdown": cmdShutdown, "get": cmdGet, "send": cmdSend, "becomes": cmdBecomes, "field": cmdField, "status": cmdStatus,
			"interrupt": cmdInterrupt, "appears": cmdAppears, "old": cmdOld, "private": cmdPrivate, "migrated": cmdMigrated,
		},
		Condition: func(cond string) (bool, error) {
			if cond != "long" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return testfiles.Long(), nil
		},
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Values[serverKey{}] = &background{}
			env.Setenv("LINES", strconv.Itoa(testfiles.Cases(200, 2001)))
			env.Vars = append(env.Vars, oneThread()...)
			return nil
		},
	})
}

// oneThread is the environment in a short run: with so few rows a second thread takes processor
// time and saves none.
func oneThread() []string {
	if testfiles.Long() {
		return nil
	}
	return []string{"PMX_THREADS=1"}
}

func cmdMigrated(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 0, "migrated DIR…")
	for _, dir := range args {
		if !testfiles.Long() {
			ts.Check(enginetest.Create(ts.MkAbs(dir)))
		}
	}
}

// patience bounds every wait of a script; a loaded machine is slow.
const patience = 5 * time.Minute

type serverKey struct{}

// background is the server that a script started.
type background struct {
	cmd    *exec.Cmd
	errors strings.Builder
	ended  chan error // gets what Wait gave, once
}

func serverOf(ts *testscript.TestScript) *background { return ts.Value(serverKey{}).(*background) }

func usage(ts *testscript.TestScript, neg, ok bool, text string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, true, "serve [FLAG...]")
	s := serverOf(ts)
	s.cmd = exec.Command("pmx", append([]string{"serve", "--listen", "127.0.0.1:0", "--threads", "1"}, args...)...)
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	s.cmd.Stderr = &s.errors
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	s.ended = make(chan error, 1)
	ts.Defer(func() {
		if s.cmd != nil {
			ts.Logf("the server is killed: %v, %v", s.cmd.Process.Kill(), <-s.ended)
			s.cmd = nil // a script that serves twice comes here twice
		}
	})
	select {
	case line := <-s.watch(out):
		url, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if !ready {
			ts.Fatalf("the server printed %q and not ready: %s", line, s.errors.String())
		}
		ts.Setenv("BASE", url)
		ts.Setenv("ADDR", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/api/v3"))
	case <-time.After(patience):
		ts.Fatalf("the server was not ready in time")
	}
}

// watch returns the server's first line, "" if it ended without one, and then waits for its end.
func (s *background) watch(out io.Reader) <-chan string {
	first := make(chan string, 1)
	cmd := s.cmd
	go func() {
		r := bufio.NewReader(out)
		line, _ := r.ReadString('\n') // an early end shows in the line
		first <- line
		_, _ = io.Copy(io.Discard, r) // its other output is not checked
		s.ended <- cmd.Wait()
	}()
	return first
}

func cmdShutdown(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 0, "shutdown")
	s := serverOf(ts)
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-s.ended:
		cmd := s.cmd
		s.cmd = nil
		if err != nil {
			ts.Fatalf("the server ended with %v: s.errors = %s", err, s.errors.String())
		}
		for line := range strings.Lines(s.errors.String()) {
			if !json.Valid([]byte(line)) && !slices.Contains(cmd.Args, "text") {
				ts.Fatalf("standard error is no terminal, but has a line that is not JSON: %s", line)
			}
		}
	case <-time.After(patience):
		ts.Fatalf("the server did not end on SIGTERM")
	}
}

func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2 || len(args) == 3, "get STATUS PATH [KEY]")
	status, body := get(ts, args[1:])
	answered(ts, "GET "+args[1], args[0], status, body)
}

// answered makes a response the script's stdout and checks its status.
func answered(ts *testscript.TestScript, what, want string, status int, body []byte) {
	_, err := ts.Stdout().Write(body)
	ts.Check(err)
	if strconv.Itoa(status) != want {
		ts.Fatalf("%s: status %d, want %s: %s", what, status, want, body)
	}
}

func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 4 || len(args) == 5, "send STATUS METHOD PATH KEY [BODY]")
	body := ""
	if len(args) == 5 {
		body = args[4]
	}
	status, text := request(ts, args[1], args[2], args[3], body)
	answered(ts, args[1]+" "+args[2], args[0], status, text)
}

// get requests a path, with a key if one follows.
func get(ts *testscript.TestScript, args []string) (status int, body []byte) {
	key := ""
	if len(args) == 2 {
		key = args[1]
	}
	return request(ts, http.MethodGet, args[0], key, "")
}

func request(ts *testscript.TestScript, method, path, key, send string) (status int, body []byte) {
	req, err := http.NewRequest(method, ts.Getenv("BASE")+path, strings.NewReader(send))
	ts.Check(err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	if send != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Timeout: patience}
	res, err := client.Do(req)
	ts.Check(err)
	body, err = io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(res.Body.Close())
	return res.StatusCode, body
}

func cmdBecomes(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2 || len(args) == 3, "becomes WANT PATH [KEY]")
	var body []byte
	// Few enough attempts that a key that is not known yet does not exhaust the limit of failures
	// of the address.
	until(ts, 200*time.Millisecond, func() bool {
		_, body = get(ts, args[1:])
		return strings.Contains(string(body), args[0])
	}, func() string { return fmt.Sprintf("GET %s never held %s: %s", args[1], args[0], body) })
}

// until tries immediately and then at every tick; on failure it reports failure's text.
func until(ts *testscript.TestScript, every time.Duration, done func() bool, failure func() string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for end := time.After(patience); !done(); {
		select {
		case <-tick.C:
		case <-end:
			ts.Fatalf("%s", failure())
		}
	}
}

func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "field NAME KEY")
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &object))
	name := args[1]
	for outer, inner, nested := strings.Cut(name, "."); nested; outer, inner, nested = strings.Cut(name, ".") {
		object, _ = object[outer].(map[string]any)
		name = inner
	}
	value, ok := object[name].(string)
	if !ok {
		ts.Fatalf("no string %s in %s", args[1], lines[len(lines)-1])
	}
	ts.Setenv(args[0], value)
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 0, "status N WORDS...")
	cmd := exec.Command("pmx", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	_ = cmd.Run() // its status is what is checked
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		ts.Fatalf("pmx %s: status %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "appears GLOB")
	until(ts, 20*time.Millisecond, func() bool {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		return len(found) > 0
	}, func() string { return "no file " + args[0] + " came" })
}

func cmdOld(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1, "old FILE")
	hourAgo := time.Now().Add(-time.Hour)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), hourAgo, hourAgo))
}
