//go:build cluster

package clustertest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// capture records the packets of all nodes.
type capture struct {
	cmd  *exec.Cmd
	path string
	out  *strings.Builder
	// keys are the keys that the network had, by a name for messages.
	keys map[string]string
}

// window is how many successive bytes of a key may not be in a packet. Fewer occur by chance.
const window = 12

// record begins to record packets with `capture` of the program of hack/cluster, whose nodes are on this machine.
func (s *suite) record(t *testing.T) {
	t.Helper()
	if os.Getenv("CLUSTER_CAPTURE") == "" {
		s.sayf("!!! PACKETS ARE NOT RECORDED: CLUSTER_CAPTURE is not set, because the nodes' packets cannot be read from this machine")
		return
	}
	c := &capture{path: filepath.Join(s.t.TempDir(), "packets"), out: &strings.Builder{}, keys: map[string]string{}}
	c.cmd = exec.CommandContext(s.t.Context(), program(t), "capture", c.path)
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(os.Interrupt) }
	c.cmd.Stderr = c.out
	printed, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.cmd.Start())
	lines := bufio.NewReader(printed)
	line, err := lines.ReadString('\n')
	require.NoError(t, err, c.out.String())
	require.Equal(t, "recording\n", line)
	go func() { _, _ = io.Copy(c.out, lines) }()
	s.capture = c
	s.noteKeys(t)
}

// noteKeys adds the keys that the network has now.
func (s *suite) noteKeys(t *testing.T) {
	t.Helper()
	var list corev1.SecretList
	require.NoError(t, s.client.List(t.Context(), &list, client.InNamespace(s.namespace), client.MatchingLabels{render.LabelNetwork: network}))
	for _, secret := range list.Items {
		for file, content := range secret.Data {
			for _, key := range keysIn(file, string(content)) {
				require.GreaterOrEqual(t, len(key), 40, file)
				s.capture.keys[secret.Name+" "+file+" "+key[len(key)-4:]] = key
			}
		}
	}
}

// keysIn returns the keys in a file of a Secret.
func keysIn(file, content string) []string {
	var list struct{ Keys []struct{ Key, Seed string } }
	var keys []string
	switch {
	case file == keyring.DirectoryKeyFile:
		keys = append(keys, content)
	case strings.Contains(content, "PRIVATE KEY"):
		lines := strings.Split(content, "\n")
		keys = append(keys, strings.TrimPrefix(lines[1], "MC4CAQAwBQYDK2VwBCIE")) // what every key of Ed25519 begins with
	case json.Unmarshal([]byte(content), &list) == nil:
		for _, k := range list.Keys {
			keys = append(keys, k.Key+k.Seed) // one of them is empty
		}
	}
	return keys
}

// noKeyPassed ends the recording and searches it: nothing that pods sent to each other, so neither a request of the operator to a server
// nor a response, has a part of a key or a token. The requests of the test itself do have keys, which shows that they are found.
func (s *suite) noKeyPassed(t *testing.T) {
	t.Helper()
	c := s.capture
	if c == nil {
		return
	}
	s.moreWrites(t)
	s.noteKeys(t)
	require.NoError(t, c.cmd.Process.Signal(os.Interrupt))
	_ = c.cmd.Wait() // it was interrupted
	s.sayf("    %s", strings.TrimSpace(c.out.String()))
	require.Contains(t, c.out.String(), " 0 dropped")
	between, others := c.payloads(t)
	parts := c.windows()
	total, control := 0, 0
	for f, payload := range between {
		total += len(payload)
		if f.to.Port() == uint16(render.PortControl) {
			control++
		}
		require.Empty(t, search(parts, payload), "a key or a token from %s to %s", f.from, f.to)
	}
	s.sayf("    %d keys; pods sent each other %d bytes in %d connections, %d of them to the control port", len(c.keys), total, len(between),
		control)
	require.NotZero(t, control, "connections of the operator to the control port")
	require.Condition(t, func() bool {
		for _, payload := range others {
			if search(parts, payload) != "" {
				return true
			}
		}
		return false
	}, "the requests of the test have keys")
}

// windows returns every part of every key, and what requests with tokens begin with.
func (c *capture) windows() map[[window]byte]string {
	all := map[[window]byte]string{[window]byte([]byte("Bearer eyJhb")): "a token"}
	for name, key := range c.keys {
		for i := 0; i+window <= len(key); i++ {
			all[[window]byte([]byte(key[i:i+window]))] = name
		}
	}
	return all
}

// flow is a direction of a connection.
type flow struct{ from, to netip.AddrPort }

// search returns the name of a window that a payload contains, or "".
func search(windows map[[window]byte]string, payload []byte) string {
	for i := 0; i+window <= len(payload); i++ {
		if name, ok := windows[[window]byte(payload[i:i+window])]; ok {
			return name
		}
	}
	return ""
}

// isPod reports whether an address is that of a pod of hack/cluster: 10.244.N.1 is that of the node, from which requests come that
// the node forwards.
func isPod(address netip.Addr) bool {
	a := address.As4()
	return a[0] == 10 && a[1] == 244 && a[3] != 1
}

// payloads returns what was sent over TCP from pods to pods, and what else, in the order of the packets.
func (c *capture) payloads(t *testing.T) (between, others map[flow][]byte) {
	t.Helper()
	file, err := os.Open(c.path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 1<<20)
	_, err = in.Discard(24) // the header of the file
	require.NoError(t, err)
	between, others = map[flow][]byte{}, map[flow][]byte{}
	for {
		var header [16]byte
		if _, err := io.ReadFull(in, header[:]); errors.Is(err, io.EOF) {
			return between, others
		}
		frame := make([]byte, binary.LittleEndian.Uint32(header[8:]))
		_, err = io.ReadFull(in, frame)
		require.NoError(t, err)
		f, payload := segment(frame)
		switch {
		case len(payload) == 0:
		case isPod(f.from.Addr()) && isPod(f.to.Addr()):
			between[f] = append(between[f], payload...)
		default:
			others[f] = append(others[f], payload...)
		}
	}
}

// segment returns the direction and the payload of a frame with TCP over IPv4, or none.
func segment(frame []byte) (flow, []byte) {
	const ethernet = 14
	if len(frame) < ethernet+40 || binary.BigEndian.Uint16(frame[12:]) != 0x0800 || frame[ethernet+9] != 6 {
		return flow{}, nil
	}
	ip := frame[ethernet:]
	tcp := ip[int(ip[0]&15)*4 : max(int(ip[0]&15)*4, min(len(ip), int(binary.BigEndian.Uint16(ip[2:]))))]
	if len(tcp) < 20 || len(tcp) < int(tcp[12]>>4)*4 {
		return flow{}, nil
	}
	from := netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[12:16])), binary.BigEndian.Uint16(tcp[0:]))
	to := netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[16:20])), binary.BigEndian.Uint16(tcp[2:]))
	return flow{from, to}, tcp[int(tcp[12]>>4)*4:]
}
