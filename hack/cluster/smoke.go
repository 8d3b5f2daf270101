package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	echoImage      = "plaza.local/echo:1"
	smokeNamespace = "plaza-smoke"
)

//go:embed smoke.yaml
var smokeManifest string

// smoke tests what the operator's tests rely on, in a temporary namespace.
func smoke(ctx context.Context, c cluster, out io.Writer) error {
	if c.isThree() {
		return errors.New("the smoke test is one of a cluster of all regions")
	}
	began := time.Now()
	if err := load(ctx, c, []string{c.archive("echo")}, io.Discard); err != nil {
		return err
	}
	objects := []string{"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + smokeNamespace +
		"\n  labels: {pod-security.kubernetes.io/enforce: restricted}\n"}
	for _, n := range nodes {
		fill := strings.NewReplacer("REGION", n.region, "LOCALITY", n.locality, "IMAGE", echoImage)
		objects = append(objects, fill.Replace(smokeManifest))
	}
	if _, err := c.apply(ctx, strings.Join(objects, "---\n")); err != nil {
		return err
	}
	for _, s := range []step{
		{"two replicas in each region, on its own node", c.smokeRollout},
		{"kubectl logs", c.smokeLogs},
		{"Services, from this machine", c.smokeServices},
		{"names, Services, the database and the API server, from every region's pods", c.smokeNames},
		{"a disconnected region is detected, the others keep working, and it recovers", c.smokeCut},
	} {
		fmt.Fprintf(out, "%s …\n", s.what)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w (the namespace %s is kept for inspection)", s.what, err, smokeNamespace)
		}
	}
	if _, err := c.kubectl(ctx, "delete", "namespace", smokeNamespace, "--timeout=2m"); err != nil {
		return err
	}
	fmt.Fprintf(out, "all checks passed in %s\n", time.Since(began).Round(time.Second))
	return nil
}

func (c cluster) inSmoke(ctx context.Context, args ...string) (string, error) {
	return c.kubectl(ctx, append([]string{"-n", smokeNamespace}, args...)...)
}

func (c cluster) smokeRollout(ctx context.Context) error {
	for _, n := range nodes {
		if _, err := c.inSmoke(ctx, "rollout", "status", "deployment/echo-"+n.region, "--timeout=2m"); err != nil {
			return err
		}
		where, err := c.inSmoke(ctx, "get", "pods", "-l", "app=echo-"+n.region, "-o", "jsonpath={.items[*].spec.nodeName}")
		if want := n.name() + " " + n.name(); err != nil || where != want {
			return errors.Join(err, fmt.Errorf("the pods are on %q, not %q", where, want))
		}
	}
	return nil
}

func (c cluster) smokeLogs(ctx context.Context) error {
	for _, n := range nodes {
		text, err := c.inSmoke(ctx, "logs", "deployment/echo-"+n.region)
		if err != nil || !strings.Contains(text, "serving on "+n.name()) {
			return errors.Join(err, fmt.Errorf("the log of %s is %q", n.name(), text))
		}
	}
	return nil
}

// answers waits until a region's Service responds to this machine.
func (c cluster) answers(ctx context.Context, n node) error {
	address, err := c.inSmoke(ctx, "get", "service", "echo-"+n.region, "-o", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return within(ctx, 30*time.Second, "asking "+address, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, http.NoBody)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || !strings.HasPrefix(string(text), n.name()+" ") {
			return errors.Join(err, fmt.Errorf("it answered %q", text))
		}
		return nil
	})
}

func (c cluster) smokeServices(ctx context.Context) error {
	for _, n := range nodes {
		if err := c.answers(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// smokeNames runs echo in a pod of each region: to every region's Service by name, to the database and to the API
// server.
func (c cluster) smokeNames(ctx context.Context) error {
	for _, from := range nodes {
		inPod := func(args ...string) (string, error) {
			return c.inSmoke(ctx, append([]string{"exec", "deployment/echo-" + from.region, "--", "/echo"}, args...)...)
		}
		for _, to := range nodes {
			text, err := inPod("get", "http://echo-"+to.region+"."+smokeNamespace+".svc")
			if err != nil || !strings.HasPrefix(text, to.name()+" ") {
				return errors.Join(err, fmt.Errorf("%s got %q from %s", from.name(), text, to.name()))
			}
		}
		for _, address := range []string{net.JoinHostPort(hostAddress, postgresPort), "kubernetes.default.svc:443"} {
			if _, err := inPod("dial", address); err != nil {
				return err
			}
		}
	}
	return nil
}

// smokeCut disconnects eu and always reconnects it.
func (c cluster) smokeCut(ctx context.Context) error {
	lost, kept := nodes[1], []node{nodes[0], nodes[2]}
	if err := cut(ctx, c, []string{lost.region}, io.Discard); err != nil {
		return err
	}
	err := c.isReady(ctx, lost, "Unknown")
	for _, n := range kept {
		err = errors.Join(err, c.answers(ctx, n))
	}
	if err := errors.Join(err, heal(context.WithoutCancel(ctx), c, []string{lost.region}, io.Discard)); err != nil {
		return err
	}
	return errors.Join(c.isReady(ctx, lost, "True"), c.answers(ctx, lost))
}

// isReady waits until the node's Ready condition has the given status.
func (c cluster) isReady(ctx context.Context, n node, want string) error {
	_, err := c.kubectl(ctx, "wait", "node/"+n.name(), "--for=condition=Ready="+want, "--timeout="+(3*graceOfNodes).String())
	return err
}
