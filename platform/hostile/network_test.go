package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/plaza-social/plaza/platform/loopback"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	readyTimeout = time.Minute
	stopTimeout  = 30 * time.Second
	dailyBytes   = 1 << 20 // that a user can upload
)

// network is a running plaza dev with default limits, except for what a user can upload.
type network struct {
	dir      string
	cancel   context.CancelFunc // stops the program
	ended    chan struct{}      // closed when the program has ended; nil before it runs
	measures string             // address of the allocated bytes
	facts    facts
	db       *pgx.Conn
	http     *http.Client
	signedIn atomic.Int64 // number of users
}

// facts are the parts of dev.json that the attacks use.
type facts struct {
	NetworkID   string `json:"networkId"`
	APIKey      string `json:"apiKey"`
	AdminToken  string `json:"adminToken"`
	DatabaseURL string `json:"databaseUrl"`
	Regions     map[region.Code]struct {
		BaseURL string `json:"baseUrl"`
		OpsURL  string `json:"opsUrl"`
	} `json:"regions"`
}

// startNetwork starts a network. settings are variables of its environment.
func startNetwork(ctx context.Context, binary string, settings ...string) (*network, error) {
	dir, err := os.MkdirTemp("", "plaza-hostile-")
	if err != nil {
		return nil, err
	}
	n := &network{dir: dir, http: loopback.Client(0)}
	if err := n.start(ctx, binary, settings); err != nil {
		return nil, errors.Join(err, n.stop(ctx))
	}
	return n, nil
}

func (n *network) start(ctx context.Context, binary string, settings []string) error {
	if err := os.Chmod(n.dir, 0o711); err != nil { // the database server is another user
		return err
	}
	if err := n.launch(ctx, binary, settings); err != nil {
		return err
	}
	address, err := os.ReadFile(n.measuresFile())
	if err != nil {
		return err
	}
	n.measures = string(address)
	content, err := os.ReadFile(filepath.Join(n.dir, "data", "dev.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &n.facts); err != nil {
		return err
	}
	n.db, err = pgx.Connect(ctx, n.facts.DatabaseURL)
	return err
}

// measuresFile returns the file into which the program writes the address of its allocated bytes.
func (n *network) measuresFile() string { return filepath.Join(n.dir, "measures") }

// files returns the folder in which the network keeps the contents of files.
func (n *network) files() string { return filepath.Join(n.dir, "files") }

// launch starts the program and waits until it has written its facts and is ready.
func (n *network) launch(ctx context.Context, binary string, settings []string) error {
	log, err := os.Create(filepath.Join(n.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own descriptor
	running, cancel := context.WithCancel(ctx)
	n.cancel = cancel
	cmd := exec.CommandContext(running, binary, "dev", "--ephemeral", "--port", "0", "--data-dir", filepath.Join(n.dir, "data"))
	cmd.Env = append(environment(), "HOSTILE_MEASURE="+n.measuresFile(), fmt.Sprintf("PLAZA_DAILY_UPLOAD_BYTES=%d", dailyBytes),
		"PLAZA_STORAGE_URL=file://"+n.files(), "PLAZA_ACCESS_LOG=off")
	cmd.Env = append(cmd.Env, settings...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return err
	}
	n.ended = make(chan struct{})
	go func() {
		_ = cmd.Wait() // its exit code is ignored
		close(n.ended)
	}()
	return n.awaitReady(ctx, log.Name())
}

// awaitReady waits until the program says in its log that it is ready.
func (n *network) awaitReady(ctx context.Context, log string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		output, _ := os.ReadFile(log)
		if bytes.Contains(output, []byte("plaza: ready")) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("plaza dev is not ready: %w\n%s", ctx.Err(), output)
		case <-n.ended:
			return fmt.Errorf("plaza dev has ended:\n%s", output)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// environment returns the environment without settings of plaza.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PLAZA_") || strings.HasPrefix(variable, "HOSTILE_")
	})
}

// stop stops the program and removes its data.
func (n *network) stop(ctx context.Context) error {
	if n.db != nil {
		_ = n.db.Close(context.WithoutCancel(ctx)) // the server stops
	}
	if n.cancel != nil {
		n.cancel()
	}
	if n.ended != nil {
		<-n.ended
	}
	return os.RemoveAll(n.dir)
}

// allocated returns the bytes that the program has allocated since it started.
func (n *network) allocated(ctx context.Context) (total float64, err error) {
	answer, err := n.get(ctx, "http://"+n.measures)
	if err == nil {
		_, err = fmt.Sscan(string(answer), &total)
	}
	return total, err
}

// metric returns the sum of the series of a metric of the server in eu.
func (n *network) metric(ctx context.Context, name string) (float64, error) {
	text, err := n.get(ctx, n.facts.Regions[region.EU].OpsURL+"/metrics")
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	if families[name] == nil {
		return 0, fmt.Errorf("the server has no metric %s", name)
	}
	var sum float64
	for _, m := range families[name].GetMetric() {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return sum, nil
}

// roundTrips returns the number of round trips of the server in eu to the database.
func (n *network) roundTrips(ctx context.Context) (float64, error) {
	return n.metric(ctx, "plaza_database_round_trips_total")
}

// query returns the number that a statement selects.
func (n *network) query(ctx context.Context, statement string, args ...any) (found float64, err error) {
	err = n.db.QueryRow(ctx, "SELECT ("+statement+")::double precision", args...).Scan(&found)
	return found, err
}

// added returns by how much a number grows while f runs.
func added(ctx context.Context, read func(context.Context) (float64, error), f func() error) (float64, error) {
	before, err := read(ctx)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := read(ctx)
	return after - before, err
}

func (n *network) get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := n.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(response.Body)
}

// host returns the host and port of the API in eu.
func (n *network) host() string {
	return strings.TrimPrefix(n.facts.Regions[region.EU].BaseURL, "http://")
}
