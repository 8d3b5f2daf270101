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

// errKilled is returned by stop if the server had to be stopped forcibly.
var errKilled = errors.New("the database server did not stop in time and was stopped forcibly")

// process is a server started by this package.
type process struct {
	cmd   *exec.Cmd
	done  chan struct{} // closed when the server has exited
	guard *guard
}

// spawn starts cmd in a new process group, so that ctrl-C in a terminal reaches only this program, which first finishes
// its requests and then stops the database.
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
		_ = cmd.Wait() // the server logs its exit reason
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop stops the server: with the signal polite, after ctx ends with firm, and finally with SIGKILL.
func (p *process) stop(ctx context.Context, polite, firm os.Signal) error {
	_ = p.cmd.Process.Signal(polite) // fails if it has already exited
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	for _, signal := range []os.Signal{firm, os.Kill} {
		_ = p.cmd.Process.Signal(signal)
		select {
		case <-p.done:
			return errKilled
		case <-time.After(5 * time.Second):
		}
	}
	return fmt.Errorf("the database server (process %d) does not exit", p.pid())
}

// guard stops servers when this process dies without stopping them. It is a shell that waits for end of file on its
// standard input, which occurs when this process ends for any reason. (Linux can signal a child when its parent dies,
// but refers to the parent's thread; other systems cannot, and the data would not be removed.)
type guard struct {
	cmd   *exec.Cmd
	input io.Closer
}

// guardScript stops the processes $2 … cleanly with SIGINT, waits at most 20 seconds for each, and removes the
// directory $1, if any. It counts the attempts, because a process that is never reaped seems to run forever.
//
//nolint:dupword // two shell loops end
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

// startGuard starts a guard of the processes and, if not empty, of the directory remove.
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
		return nil, fmt.Errorf("starting the database guard: %w", err)
	}
	return &guard{cmd: cmd, input: input}, nil
}

// release ends the guard without any effect on the servers. It does nothing on a nil guard.
func (g *guard) release() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.input.Close()
	_ = g.cmd.Wait()
}
