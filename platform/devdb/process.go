package devdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// errHard is returned by stop when the polite signal did not help in time.
var errHard = errors.New("the database server did not end in time and was stopped hard")

// process is a server that was started here.
type process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when the server has ended
	guard *guard
}

// spawn starts cmd in a process group of its own, so that ctrl-C at a terminal reaches this program alone, which first
// ends the requests and then the database.
func spawn(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended stands in its log
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop ends the server: politely until ctx ends, then firmly, then with force.
func (p *process) stop(ctx context.Context, polite, firm os.Signal) error {
	_ = p.cmd.Process.Signal(polite) // fails when it has ended already
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	for _, signal := range []os.Signal{firm, os.Kill} {
		_ = p.cmd.Process.Signal(signal)
		select {
		case <-p.done:
			return errHard
		case <-time.After(5 * time.Second):
		}
	}
	return fmt.Errorf("the database server (process %d) does not end", p.pid())
}

// guard ends servers when this process dies without doing it. It is a shell that waits for its standard input to end, which
// happens when this process dies, however it dies. (Linux can signal a child when its parent dies, but means the parent's
// thread, and no other system can; and nobody would remove the data.)
type guard struct {
	cmd   *exec.Cmd
	input io.Closer
}

// guardScript ends the processes $2 … in an orderly way, as SIGINT does for PostgreSQL and CockroachDB, gives each 20 seconds
// at most, and removes the folder $1, if any. It counts, because a process that nobody reaps never seems to end.
//
//nolint:dupword // two loops of the shell end
const guardScript = `folder=$1
shift
cat >/dev/null
kill -INT "$@" 2>/dev/null
for pid in "$@"; do
	n=0
	while kill -0 "$pid" 2>/dev/null && [ $n -lt 200 ]; do
		sleep 0.1
		n=$((n + 1))
	done
done
[ -z "$folder" ] || rm -rf -- "$folder"`

// startGuard guards the processes, and the folder remove if it is not empty.
func startGuard(remove string, pids ...int) (*guard, error) {
	args := []string{"-c", guardScript, "plaza-database-guard", remove}
	for _, pid := range pids {
		args = append(args, strconv.Itoa(pid))
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the guard of the database: %w", err)
	}
	return &guard{cmd: cmd, input: input}, nil
}

// release ends the guard without its doing anything. A guard that was never started has nothing to release.
func (g *guard) release() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.input.Close()
	_ = g.cmd.Wait()
}
