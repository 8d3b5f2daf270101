package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The addresses of the cluster. The bridge is the network between the regions: the control plane and the database run
// on the host, at its address, and each node has an address on it.
const (
	bridge        = "plaza0"
	hostAddress   = "10.200.0.1"
	nodeNetwork   = "10.200.0.0/24"
	podNetwork    = "10.244.0.0/16"
	apiPort       = "6443"
	postgresPort  = "15432"
	clusterDomain = "cluster.local"
	pauseImage    = "plaza.local/pause:1"
)

// node is a node of the cluster: a network namespace with its own container runtime.
type node struct {
	region   string // Plaza's region code, part of the node's name: us
	locality string // name of the region in the database and in the node's label: us-east1
	number   int    // last part of its IP addresses
}

// nodes has one node per region.
var nodes = []node{
	{region: "us", locality: "us-east1", number: 1},
	{region: "eu", locality: "europe-west1", number: 2},
	{region: "sg", locality: "asia-southeast1", number: 3},
}

func (n node) name() string      { return "node-" + n.region }
func (n node) namespace() string { return "plaza-" + n.region }
func (n node) link() string      { return "plaza-" + n.region }
func (n node) address() string   { return fmt.Sprintf("10.200.0.1%d", n.number) }
func (n node) pods() string      { return fmt.Sprintf("10.244.%d.0/24", n.number) }
func (n node) zone() string      { return n.locality + "-b" }

// nodeOf returns the node of a region.
func nodeOf(region string) (node, error) {
	i := slices.IndexFunc(nodes, func(n node) bool { return n.region == region })
	if i < 0 {
		return node{}, fmt.Errorf("unknown region %q: want us, eu or sg", region)
	}
	return nodes[i], nil
}

// cluster holds the directories of a cluster. Its state, except for the network, is in dir; programs and images are in
// bin, which `make clean` removes.
//
// Three clusters instead of one are a cluster without control plane and nodes, for what they share, and the clusters of
// regions, one for each region.
type cluster struct {
	repo string
	dir  string
	bin  string
	// region is the region of a cluster with one node, whose control plane runs in the network namespace of that node; "" is
	// the cluster of all regions, whose control plane runs on the host.
	region string
}

// marker is the file in the directory of three clusters.
const marker = "three"

// isThree reports whether the directory has three clusters.
func (c cluster) isThree() bool { return exists(c.path(marker)) }

// clusters returns the clusters of a directory.
func (c cluster) clusters() []cluster {
	if !c.isThree() {
		return []cluster{c}
	}
	var three []cluster
	for _, n := range nodes {
		three = append(three, cluster{repo: c.repo, bin: c.bin, dir: c.path("clusters", n.region), region: n.region})
	}
	return three
}

// nodes returns the nodes of a cluster.
func (c cluster) nodes() []node {
	if c.region == "" {
		return nodes
	}
	i := slices.IndexFunc(nodes, func(n node) bool { return n.region == c.region })
	return nodes[i : i+1]
}

// host returns the address of the control plane.
func (c cluster) host() string {
	if c.region == "" {
		return hostAddress
	}
	return c.nodes()[0].address()
}

// services returns the range of the cluster's Services, and firstService the first, which is kubernetes.default. The ranges of
// three clusters differ, so that the host can reach them.
func (c cluster) services() string     { return fmt.Sprintf("10.%d.0.0/16", c.serviceNumber()) }
func (c cluster) firstService() string { return fmt.Sprintf("10.%d.0.1", c.serviceNumber()) }

func (c cluster) serviceNumber() int {
	if c.region == "" {
		return 96
	}
	return 96 + c.nodes()[0].number
}

// openCluster finds the repository that contains the working directory. dir is the state directory, or "" for the
// default.
func openCluster(dir string) (cluster, error) {
	repo, err := os.Getwd()
	if err != nil {
		return cluster{}, err
	}
	for !exists(filepath.Join(repo, "hack", "cluster", "go.mod")) {
		parent := filepath.Dir(repo)
		if parent == repo {
			return cluster{}, errors.New("the working directory is not in Plaza's repository")
		}
		repo = parent
	}
	c := cluster{repo: repo, bin: filepath.Join(repo, "bin", "cluster")}
	if dir == "" {
		dir = c.defaultDir()
	}
	c.dir, err = filepath.Abs(dir)
	return c, err
}

func (c cluster) defaultDir() string { return filepath.Join(c.repo, ".plaza-cluster") }

func (c cluster) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}
func (c cluster) program(name string) string      { return filepath.Join(c.bin, name) }
func (c cluster) node(n node, file string) string { return c.path(n.region, file) }
func (c cluster) kubeconfig() string              { return c.path("kubeconfig") }
func (c cluster) databaseURL() string             { return c.path("database-url") }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// write writes a file that only its owner can read, creating parent directories.
func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}
