package backup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A folder cannot be renamed to a mount point: this is reported before anything is written. The
// mount is in a namespace of its own, which not every system allows.
func TestAMountPointIsRefusedAtOnce(t *testing.T) {
	if target := os.Getenv("PMX_TEST_MOUNTED"); target != "" {
		_, err := Stage(target)
		if err == nil || !strings.Contains(err.Error(), "name a folder in it, such as "+filepath.Join(target, "data")) {
			t.Errorf("the error is %v", err)
		}
		s := stage(t, filepath.Join(target, "data"))
		if err := s.Publish(); err != nil {
			t.Error(err)
		}
		return
	}
	target := folder(t, t.TempDir(), "mount")
	const mounted = `mount -t tmpfs none "$PMX_TEST_MOUNTED"`
	unshare := func(script string) ([]byte, error) {
		cmd := exec.Command("unshare", "-r", "-m", "sh", "-c", script, os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_MOUNTED="+target)
		return cmd.CombinedOutput()
	}
	if out, err := unshare(mounted); err != nil {
		t.Skipf("nothing can be mounted: %v\n%s", err, out)
	}
	out, err := unshare(mounted + ` && exec "$0" -test.v -test.run=TestAMountPointIsRefusedAtOnce`)
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	if left := files(t, filepath.Dir(target)); len(left) != 0 {
		t.Errorf("there is %q", left)
	}
}
