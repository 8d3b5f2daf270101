package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/faults/proxy"
)

const (
	readyTimeout = 2 * time.Minute
	stopTimeout  = 30 * time.Second
)

// network is a running plaza dev. Its database and its servers are behind proxies, with which faults are caused.
type network struct {
	dir      string // of everything that it writes
	program  string
	database *devdb.DB
	toDB     *proxy.Proxy
	api, ops map[string]*proxy.Proxy // to the servers, by region
	apiKey   string
	died     chan error // receives an error if a program ends by itself
	stopOp   func()

	mu  sync.Mutex
	end func(os.Signal) // ends the servers; nil while there are none
}

// startNetwork starts the database and the servers.
func startNetwork(ctx context.Context, program string, say func(string, ...any)) (n *network, err error) {
	dir, err := os.MkdirTemp("", "plaza-observe-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the database server is another user
		return nil, err
	}
	n = &network{
		dir: dir, program: program, api: map[string]*proxy.Proxy{}, ops: map[string]*proxy.Proxy{}, died: make(chan error, 1),
		stopOp: func() {},
	}
	defer func() { //nolint:contextcheck // it also runs after the end of ctx
		if err != nil {
			err = errors.Join(err, n.stop())
		}
	}()
	say("starting a database")
	if n.database, err = devdb.Start(ctx, devdb.Options{Ephemeral: true}); err != nil {
		return nil, err
	}
	u, err := url.Parse(n.database.URL())
	if err != nil {
		return nil, err
	}
	if n.toDB, err = proxy.Open(u.Host); err != nil {
		return nil, err
	}
	say("starting plaza dev --demo: us, eu and sg")
	return n, errors.Join(n.launch(ctx, "--demo"), n.readFacts())
}

// launch starts plaza dev and waits until it is ready.
func (n *network) launch(ctx context.Context, more ...string) error {
	log, err := os.Create(filepath.Join(n.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own descriptor
	args := append([]string{"dev", "--rate-limit", "off", "--port", "0", "--data-dir", filepath.Join(n.dir, "data")}, more...)
	command := exec.CommandContext(context.WithoutCancel(ctx), n.program, args...)
	command.Env = append(os.Environ(), "PLAZA_DATABASE_URL="+n.toDB.Through(n.database.URL()))
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return err
	}
	var isWanted atomic.Bool // the end of the program
	ended := make(chan struct{})
	go func() {
		err := command.Wait()
		close(ended)
		if !isWanted.Load() {
			select {
			case n.died <- fmt.Errorf("plaza dev ended: %w", errors.Join(err, errors.New(n.logged()))):
			default:
			}
		}
	}()
	n.mu.Lock()
	n.end = func(signal os.Signal) {
		isWanted.Store(true)
		_ = command.Process.Signal(signal)
		kill := time.AfterFunc(stopTimeout, func() { _ = command.Process.Kill() })
		<-ended
		kill.Stop()
	}
	n.mu.Unlock()
	return n.awaitReady(ctx, ended)
}

func (n *network) logged() string {
	text, _ := os.ReadFile(filepath.Join(n.dir, "log"))
	return string(text)
}

func (n *network) awaitReady(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		if strings.Contains(n.logged(), "plaza: ready") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("plaza dev is not ready: %w\n%s", ctx.Err(), n.logged())
		case <-ended:
			return fmt.Errorf("plaza dev ended:\n%s", n.logged())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// readFacts reads what a client needs to know, and puts proxies in front of the servers, or directs those there to new servers.
func (n *network) readFacts() error {
	content, err := os.ReadFile(filepath.Join(n.dir, "data", "dev.json"))
	if err != nil {
		return err
	}
	var facts struct {
		APIKey  string `json:"apiKey"`
		Regions map[string]struct {
			BaseURL string `json:"baseUrl"`
			OpsURL  string `json:"opsUrl"`
		} `json:"regions"`
	}
	if err := json.Unmarshal(content, &facts); err != nil {
		return err
	}
	n.apiKey = facts.APIKey
	for code, region := range facts.Regions {
		if err := errors.Join(aim(n.api, code, region.BaseURL), aim(n.ops, code, region.OpsURL)); err != nil {
			return err
		}
	}
	return nil
}

func aim(proxies map[string]*proxy.Proxy, code, to string) (err error) {
	host := strings.TrimPrefix(to, "http://")
	if p := proxies[code]; p != nil {
		p.AimAt(host)
		return nil
	}
	proxies[code], err = proxy.Open(host)
	return err
}

// endServers ends the servers that run.
func (n *network) endServers(signal os.Signal) {
	n.mu.Lock()
	end := n.end
	n.mu.Unlock()
	if end != nil {
		end(signal)
	}
}

// restart kills the servers and starts others.
func (n *network) restart(ctx context.Context) error {
	n.endServers(os.Kill)
	if err := n.launch(ctx); err != nil {
		return err
	}
	return n.readFacts()
}

// stop ends everything and removes the data.
func (n *network) stop() error {
	n.stopOp()
	n.endServers(syscall.SIGTERM)
	for _, p := range n.proxies() {
		p.Close()
	}
	var err error
	if n.database != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		err = n.database.Stop(ctx)
	}
	return errors.Join(err, os.RemoveAll(n.dir))
}

func (n *network) proxies() []*proxy.Proxy {
	var all []*proxy.Proxy
	for code := range n.api {
		all = append(all, n.api[code], n.ops[code])
	}
	if n.toDB != nil {
		all = append(all, n.toDB)
	}
	return all
}

// rendered returns the network as the operator would render it.
func (n *network) rendered() render.Network {
	return render.Network{SN: &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "plaza"},
		Spec: v1alpha1.SocialNetworkSpec{
			Regions:    []v1alpha1.Region{{Code: "us"}, {Code: "eu"}, {Code: "sg"}},
			Monitoring: v1alpha1.Monitoring{Alerts: v1alpha1.Alerts{Enabled: true}},
		},
	}}
}

// targets returns what Prometheus scrapes: the servers, and the observer that takes the operator's place.
func (n *network) targets(ctx context.Context) ([]prometheus.Target, error) {
	operator, err := n.startOperator(ctx)
	if err != nil {
		return nil, err
	}
	targets := []prometheus.Target{{Address: operator, Labels: map[string]string{"pod": "plaza-operator-1", "job": "plaza-operator"}}}
	for code, p := range n.ops {
		targets = append(targets, prometheus.Target{Address: p.Addr(), Labels: map[string]string{
			"namespace": "demo", "network": "plaza", "region": code, "pod": "plaza-" + code + "-1",
		}})
	}
	return targets, nil
}
