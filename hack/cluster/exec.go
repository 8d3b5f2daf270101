package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// sh runs a program and returns its output. The error contains the last lines of the output.
func sh(ctx context.Context, name string, args ...string) (string, error) {
	return pipe(ctx, "", name, args...)
}

// pipe is like sh, with input for the program's standard input.
func pipe(ctx context.Context, input, name string, args ...string) (string, error) {
	return runAs(ctx, nil, input, name, args...)
}

// runAs is like pipe, as another user unless user is nil.
func runAs(ctx context.Context, user *syscall.Credential, input, name string, args ...string) (string, error) {
	var out, words bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	if user != nil {
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: user} // that user may lack access to the current directory
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &words
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, lastLines(words.String(), 5))
	}
	return out.String(), nil
}

// shAll runs commands one after another, each given as a line without quotes.
func shAll(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		words := strings.Fields(line)
		if _, err := sh(ctx, words[0], words[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// within calls try until it succeeds, and returns its last error when limit has elapsed.
func within(ctx context.Context, limit time.Duration, what string, try func(context.Context) error) error {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err // errors after the end of ctx are about the timeout
		}
		select {
		case <-ctx.Done():
			if err := whole.Err(); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			return fmt.Errorf("%s: gave up after %s: %w", what, limit, last)
		case <-tick.C:
		}
	}
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
