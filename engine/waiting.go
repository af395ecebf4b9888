package engine

/*
#include <time.h>

// Of DuckDB's C interface, whose library the driver links.
typedef void *duckdb_pending_result;
int duckdb_pending_execute_task(duckdb_pending_result pending);
const char *duckdb_pending_error(duckdb_pending_result pending);

static long long now(void) {
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000LL + at.tv_nsec;
}

// work_asleep works on the tasks of a statement until its result is ready (true) or it has failed. While others work on
// all of its tasks it pauses, for a quarter of the time that it has waited. Times are in nanoseconds. The states are those
// of duckdb_pending_state.
static int work_asleep(duckdb_pending_result pending, int ready, int part_done, int failed, long long awake, long long longest) {
	long long idle = 0; // since when it waits; 0: it does not
	for (;;) {
		int state = duckdb_pending_execute_task(pending);
		if (state == ready) {
			return 1;
		}
		if (state == part_done) {
			idle = 0;
			continue;
		}
		// A statement whose tasks all wait for something is reported as failed as well, but without an error.
		if (state == failed) {
			const char *error = duckdb_pending_error(pending);
			if (!error || *error) {
				return 0;
			}
		}
		if (!idle) {
			idle = now();
			continue;
		}
		long long waited = now() - idle;
		if (waited > awake) {
			struct timespec pause = {0, waited / 4 < longest ? waited / 4 : longest};
			nanosleep(&pause, NULL);
		}
	}
}
*/
import "C"

import (
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// A statement is worked on by the thread that runs it and by DuckDB's helpers. In duckdb_execute_pending, a caller that
// finds no task, because the helpers have the last ones, asks again and again until they are done, and takes a whole
// processor meanwhile. So the driver runs statements by work_asleep, which works on the same tasks and sleeps between
// questions. The driver's calls of DuckDB are variables of its package mapping.
func init() {
	executeAtOnce, resultError := mapping.ExecutePending, mapping.ResultError
	mapping.ExecutePending = func(pending mapping.PendingResult, result *mapping.Result) mapping.State {
		if C.work_asleep(C.duckdb_pending_result(pending.Ptr), C.int(mapping.PendingStateResultReady), C.int(mapping.PendingStateResultNotReady),
			C.int(mapping.PendingStateError), C.longlong(awake), C.longlong(longestPause)) == 0 {
			failures.Store(result, mapping.PendingError(pending))
			return mapping.StateError
		}
		return executeAtOnce(pending, result)
	}
	mapping.ResultError = func(result *mapping.Result) string {
		if text, ok := failures.LoadAndDelete(result); ok {
			return text.(string)
		}
		return resultError(result)
	}
}

// failures has the texts of the errors of statements that failed in work_asleep, by their result, until it is asked for
// its error, as the driver does at once. DuckDB would put "Attempting to execute an unsuccessful […] result" before it,
// and with it another type of error.
var failures sync.Map // *mapping.Result: string

const (
	// awake is how long work_asleep asks without pausing: most tasks of small statements take less.
	awake = 100 * time.Microsecond
	// longestPause is how much later than the helpers are done a statement ends, at most.
	longestPause = time.Millisecond
)
