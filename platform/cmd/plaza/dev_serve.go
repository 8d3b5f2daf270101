package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/region"
)

// opsOffset is the difference between a region's API port and operations port.
const opsOffset = 1000

// portOf returns the API port of home, given that of us.
func portOf(first int, home region.Code) int {
	for i, code := range region.All() {
		if code == home {
			return first + i
		}
	}
	panic("unknown region: " + home.String())
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// devPorts are the open ports of a region.
type devPorts struct{ api, ops net.Listener }

// openPorts opens the ports of all regions, before a database is started that could not be used. With port 0 they are free ones.
func (d *devNetwork) openPorts() error {
	d.ports = map[region.Code]devPorts{}
	for _, home := range region.All() {
		apiAddr, opsAddr := local(0), local(0)
		if d.opts.port != 0 {
			apiAddr, opsAddr = local(portOf(d.opts.port, home)), local(portOf(d.opts.port, home)+opsOffset)
		}
		api, err := net.Listen("tcp", apiAddr)
		if err != nil {
			return errors.Join(portError(apiAddr, err), d.closePorts())
		}
		ops, err := net.Listen("tcp", opsAddr)
		if err != nil {
			return errors.Join(portError(opsAddr, err), api.Close(), d.closePorts())
		}
		d.ports[home] = devPorts{api, ops}
	}
	return nil
}

// closePorts closes the ports that no server has closed.
func (d *devNetwork) closePorts() error {
	var errs []error
	for _, p := range d.ports {
		for _, l := range []net.Listener{p.api, p.ops} {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func portError(addr string, err error) error {
	_, port, _ := net.SplitHostPort(addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %s is in use: stop the program that uses it or choose other ports with --port", port)
	}
	return fmt.Errorf("port %s cannot be used (%w): choose other ports with --port", port, err)
}

// serve serves the three regions until parent ends or one of them fails.
func (d *devNetwork) serve(parent context.Context, db *devdb.DB) error {
	if err := d.openRegions(parent, db); err != nil {
		return interrupted(parent, err)
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	ended := make(chan struct{}, len(d.servers))
	for _, server := range d.servers {
		go func() {
			if err := server.Run(ctx); err != nil {
				cancel(fmt.Errorf("region %s: %w", server.Code(), err))
			}
			ended <- struct{}{}
		}()
	}
	go d.watchDatabase(ctx, db, cancel)
	if err := d.announce(ctx, db); err != nil {
		cancel(err)
	}
	for range d.servers {
		<-ended
	}
	if cause := context.Cause(ctx); cause != context.Cause(parent) { //nolint:errorlint // compares identity: which context ended first
		return cause
	}
	return nil
}

func (d *devNetwork) openRegions(ctx context.Context, db *devdb.DB) error {
	for _, home := range region.All() {
		server, err := app.New(ctx, d.regionConfig(home, db), d.log, app.WithInsecureModeAnnounced(),
			app.WithListeners(d.ports[home].api, d.ports[home].ops))
		if err != nil {
			for _, opened := range d.servers {
				err = errors.Join(err, opened.Close())
			}
			return err
		}
		d.servers = append(d.servers, server)
	}
	return nil
}

func (d *devNetwork) watchDatabase(ctx context.Context, db *devdb.DB, fail func(error)) {
	select {
	case <-ctx.Done():
	case <-db.Died():
		fail(errors.New("the database server exited unexpectedly; its log is in the data directory"))
	}
}

// announce waits until every region is ready, fills a demo network, and prints the facts.
func (d *devNetwork) announce(ctx context.Context, db *devdb.DB) error {
	for _, server := range d.servers {
		if err := waitReady(ctx, server); err != nil {
			return interrupted(ctx, err)
		}
	}
	facts, err := d.facts(db)
	if err != nil {
		return err
	}
	if d.opts.demo {
		if err := fillDemo(ctx, facts, d.work); err != nil {
			return interrupted(ctx, err)
		}
	}
	if err := facts.write(d.dir); err != nil {
		return err
	}
	secure, err := facts.secureMode(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	return facts.print(d.cmd.OutOrStdout(), d, secure)
}

func waitReady(ctx context.Context, server *app.Region) error {
	ctx, cancel := context.WithTimeout(ctx, devReadyTimeout)
	defer cancel()
	for {
		state := server.Ready(ctx)
		if state.Ready {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("region %s: %s", server.Code(), state)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
