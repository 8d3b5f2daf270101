package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Environment of a process that attacks.
const (
	apiVariable = "HOSTILE_API"
	keyVariable = "HOSTILE_API_KEY"
)

// startAttack runs an attack in a process of its own until ctx is done. The process has the lowest priority: attackers have
// machines of their own, and their work must not count as the server's.
func startAttack(ctx context.Context, n *network, a attack) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var log strings.Builder
	cmd := exec.CommandContext(ctx, "nice", "-n", "19", program, "-attack", a.name)
	cmd.Env = append(os.Environ(), apiVariable+"="+n.api, keyVariable+"="+n.apiKey)
	cmd.Stderr = &log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Run(); err != nil && !errors.Is(err, context.Canceled) { // the process ends without an error when it is told to
		return fmt.Errorf("the attackers: %w\n%s", err, log.String())
	}
	return nil
}

// runAttack is the process that startAttack starts.
func runAttack(ctx context.Context, o options) error {
	all := attacks()
	i := slices.IndexFunc(all, func(a attack) bool { return a.name == o.attack })
	if i < 0 {
		return fmt.Errorf("no attack has the name %q", o.attack)
	}
	n := newNetwork(fmt.Sprintf("attacker-%d", os.Getpid()))
	n.api, n.apiKey = os.Getenv(apiVariable), os.Getenv(keyVariable)
	if err := all[i].run(ctx, n); ctx.Err() == nil {
		return err
	}
	return nil
}
