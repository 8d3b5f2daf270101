// Command observe shows the alerts and dashboards of a network on this machine. It starts `plaza dev --demo` and a steady load, a
// Prometheus with the network's rules, whose windows are shorter, and a page with the dashboards. A fault can be caused, whose alert then
// fires:
//
//	make observe
//	make observe FAULT=region-down
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/monitoring/page"
	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
)

const (
	// factor is by how much the windows and durations of the rules are shorter than those of a network.
	factor = 30
	// interval is that of scrapes.
	interval = time.Second
	// calm is how long the network runs before a fault begins.
	calm = 30 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "observe:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	fault   *fault // nil for none
	listen  string
	program string // of plaza
}

func parse(args []string) (options, error) {
	flags := flag.NewFlagSet("observe", flag.ContinueOnError)
	name := flags.String("fault", "", "fault to cause: "+strings.Join(faultNames(), ", "))
	listen := flags.String("listen", "127.0.0.1:8090", "address of the page")
	program := flags.String("plaza", "bin/plaza", "path of plaza")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o := options{listen: *listen, program: *program}
	if *name == "" {
		return o, nil
	}
	for i := range faults {
		if faults[i].name == *name {
			o.fault = &faults[i]
			return o, nil
		}
	}
	return o, fmt.Errorf("there is no fault %q; the faults are %s", *name, strings.Join(faultNames(), ", "))
}

// run shows the network until ctx ends, which is not an error.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, "observe: "+format+"\n", args...) }
	err = show(ctx, o, say)
	if ctx.Err() != nil {
		say("ended")
		return nil //nolint:nilerr // the user ended it
	}
	return err
}

// show starts everything in order, and stops it in reverse order when ctx ends.
func show(ctx context.Context, o options, say func(string, ...any)) (err error) {
	n, err := startNetwork(ctx, o.program, say)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.stop()) }() //nolint:contextcheck // it runs after the end of ctx
	ctx, cancel := context.WithCancel(ctx)              // the servers below end before the network
	defer cancel()
	say("starting the load: a few requests per second to each region")
	if err := n.startLoad(ctx); err != nil {
		return err
	}
	say("starting Prometheus; the windows of the rules are %d times shorter", factor)
	p, err := startPrometheus(ctx, n)
	if err != nil {
		return err
	}
	defer p.Stop()
	stopPage, err := startPage(ctx, o, n, p)
	if err != nil {
		return err
	}
	defer stopPage()
	say("dashboards: http://%s", o.listen)
	say("Prometheus: %s/alerts", p.URL())
	if o.fault == nil {
		say("next: open the dashboards. To see an alert fire: make observe FAULT=%s. Ctrl-C ends everything.", strings.Join(faultNames(), "|"))
	} else {
		say("next: open the dashboards; the fault %s begins in %s. Ctrl-C ends everything.", o.fault.name, calm)
		go o.fault.cause(ctx, n, say)
	}
	return watch(ctx, n, p, say)
}

func startPrometheus(ctx context.Context, n *network) (*prometheus.Server, error) {
	program, err := prometheus.Find(".")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(n.dir, "prometheus")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	targets, err := n.targets(ctx)
	if err != nil {
		return nil, err
	}
	return prometheus.Start(ctx, prometheus.Options{
		Program: program, Dir: dir, Rules: monitoring.RuleFaster(n.rendered(), factor).Spec, Targets: targets, Interval: interval,
	})
}

// startPage serves the page until the returned function is called.
func startPage(ctx context.Context, o options, n *network, p *prometheus.Server) (stop func(), err error) {
	note := ""
	if o.fault != nil {
		note = fmt.Sprintf("Fault %s: %s.", o.fault.name, o.fault.does)
	}
	var dashboards []string
	for _, text := range monitoring.Dashboard(n.rendered()).Data {
		dashboards = append(dashboards, text)
	}
	handler, err := page.Handler(page.Options{
		Prometheus: p.URL(), Dashboards: append(dashboards, monitoring.SharedDashboards()["plaza-fleet.json"]),
		ScrapeInterval: interval, Range: 5 * time.Minute, Note: note,
	})
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("%w: set another address with ARGS=-listen", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // until Close
	return func() { _ = server.Close() }, nil
}

// watch prints each alert that begins or ceases to fire, until ctx ends or the network fails.
func watch(ctx context.Context, n *network, p *prometheus.Server, say func(string, ...any)) error {
	before := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-n.died:
			return err
		case <-time.After(interval):
		}
		firing, err := p.Firing(ctx)
		if err != nil {
			continue // it is starting or ending
		}
		now := map[string]bool{}
		for _, labels := range firing {
			name := strings.TrimSpace(labels["alertname"] + " " + labels["region"] + " " + labels["home"])
			now[name] = true
			if !before[name] {
				say("firing: %s (%s)", name, labels["severity"])
			}
		}
		for name := range before {
			if !now[name] {
				say("no longer firing: %s", name)
			}
		}
		before = now
	}
}
