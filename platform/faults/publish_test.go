//go:build faults

package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// migrated has the schema of a network in which the API key suffices to sign in.
var migrated = dbtest.NewTemplate("not in secure mode", app.StartInsecure)

// migrate creates that schema in an empty database.
func migrate(ctx context.Context, url string) error {
	if err := db.Migrate(ctx, db.MigrateOptions{URL: url}); err != nil {
		return err
	}
	return app.StartInsecure(ctx, url)
}

// fleet is a database with server processes of region eu. Each process is this test program, which [TestMain] turns into a
// server, so that a test can kill it.
type fleet struct {
	t        *testing.T
	dir      string
	database string
	apiKey   string
	conn     *pgx.Conn
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), database: migrated.New(t)}
	_, err := auth.GenerateKeySet(filepath.Join(f.dir, "server-keys.json"), "k1")
	require.NoError(t, err)
	f.apiKey, err = auth.GenerateKeySet(filepath.Join(f.dir, "api-keys.json"), "k1")
	require.NoError(t, err)
	require.NoError(t, auth.GenerateKeyring(filepath.Join(f.dir, "signing-keys.json")))
	f.conn, err = pgx.Connect(t.Context(), f.database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.conn.Close(context.WithoutCancel(t.Context())) })
	return f
}

// serverProcessEnv makes this test program a server instead of running tests.
const serverProcessEnv = "FAULTS_SERVER_PROCESS"

func isServerProcess() bool { return os.Getenv(serverProcessEnv) != "" }

// serveRegion serves the region that the environment configures, as plaza serve does, and returns the exit code.
func serveRegion() int {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	config.AddFlags(flags)
	cfg, err := config.Load(flags, os.LookupEnv)
	if err == nil {
		err = serve(cfg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serve(cfg config.Config) error {
	ctx, log := context.Background(), telemetry.NewLogger(os.Stderr, cfg.LogFormat, cfg.LogLevel.Level())
	server, err := app.New(ctx, cfg, log, app.WithTimeLimits(limits.Lift())) // the database is not what fails
	if err != nil {
		return err
	}
	return server.Run(ctx)
}

// serverProcess is one process of the fleet.
type serverProcess struct {
	fleet *fleet
	cmd   *exec.Cmd
	api   string // URL
	token string // of the user who creates all content
}

// start runs a server until the test ends or kills it.
func (f *fleet) start() *serverProcess {
	f.t.Helper()
	log, err := os.CreateTemp(f.dir, "log")
	require.NoError(f.t, err)
	program, err := os.Executable()
	require.NoError(f.t, err)
	cmd := exec.CommandContext(context.WithoutCancel(f.t.Context()), program)
	cmd.Stderr = log
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PLAZA_") }),
		serverProcessEnv+"=1", "PLAZA_REGION=eu", "PLAZA_NETWORK_ID="+strings.Repeat("a", 24), "PLAZA_LISTEN=127.0.0.1:0",
		"PLAZA_OPS_LISTEN=127.0.0.1:0", "PLAZA_LOG_FORMAT=json", "PLAZA_LOG_LEVEL=info",
		"PLAZA_DATABASE_URL="+f.database, "PLAZA_DIRECTORY_KEY=the directory key of a test", "PLAZA_DRAIN_DELAY=0s", "PLAZA_RATE_LIMIT=off",
		"PLAZA_WEBHOOK_NETWORKS=127.0.0.0/8", "PLAZA_STATEMENT_TIMEOUT=1m", "PLAZA_REQUEST_TIMEOUT=1m",
		"PLAZA_STORAGE_URL=file://"+f.dir, "PLAZA_SERVER_KEYS_FILE="+filepath.Join(f.dir, "server-keys.json"),
		"PLAZA_API_KEYS_FILE="+filepath.Join(f.dir, "api-keys.json"), "PLAZA_SIGNING_KEYS_FILE="+filepath.Join(f.dir, "signing-keys.json"))
	require.NoError(f.t, cmd.Start())
	f.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	api, ops := f.addresses(log.Name())
	s := &serverProcess{fleet: f, cmd: cmd, api: "http://" + api}
	require.Eventually(f.t, func() bool {
		status, _, _ := s.send(http.MethodGet, "http://"+ops+"/readyz", nil)
		return status == http.StatusOK
	}, apptest.Patience, 20*time.Millisecond, "the server does not get ready")
	return s
}

// addresses returns the addresses that a server serves on according to its log.
func (f *fleet) addresses(log string) (api, ops string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		text, err := os.ReadFile(log)
		require.NoError(f.t, err)
		for line := range strings.Lines(string(text)) {
			var entry struct{ Msg, API, Operations string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
				api, ops = entry.API, entry.Operations
			}
		}
		return api != ""
	}, apptest.Patience, 20*time.Millisecond, "the server does not start")
	return api, ops
}

// kill ends the process as a crash does, without a shutdown.
func (s *serverProcess) kill() {
	s.fleet.t.Helper()
	require.NoError(s.fleet.t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
}

// send sends a request and reads the answer.
func (s *serverProcess) send(method, url string, body any) (status int, answer map[string]any, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(s.fleet.t.Context(), method, url, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", s.fleet.apiKey)
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, err
	}
	_ = json.Unmarshal(text, &answer) // the readiness page is no JSON
	return resp.StatusCode, answer, nil
}

// do sends a request that must succeed.
func (s *serverProcess) do(method, path string, body any) map[string]any {
	s.fleet.t.Helper()
	status, answer, err := s.send(method, s.api+path, body)
	require.NoError(s.fleet.t, err)
	require.Contains(s.fleet.t, []int{http.StatusOK, http.StatusCreated}, status, "%s %s: %v", method, path, answer)
	return answer
}

func (s *serverProcess) signIn(userID string) {
	s.fleet.t.Helper()
	s.token, _ = s.do(http.MethodPost, "/api/v5/sessions", object{"userId": userID, "deviceId": "d"})["accessToken"].(string)
	require.NotEmpty(s.fleet.t, s.token)
}

func (f *fleet) count(sql string, args ...any) (n int) {
	f.t.Helper()
	require.NoError(f.t, f.conn.QueryRow(f.t.Context(), sql, args...).Scan(&n))
	return n
}

// first returns a field of the first object of a list.
func first(t *testing.T, answer map[string]any, list, field string) any {
	t.Helper()
	all, _ := answer[list].([]any)
	require.NotEmpty(t, all)
	one, _ := all[0].(map[string]any)
	return one[field]
}

// schedule schedules posts in a community, all for the same second, which is in an hour.
func (s *serverProcess) schedule(posts int, community, poll string) {
	t := s.fleet.t
	t.Helper()
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	var workers sync.WaitGroup
	failures := make(chan string, posts)
	for worker := range 4 {
		workers.Go(func() {
			for i := worker; i < posts; i += 4 {
				post := object{"targetType": "community", "targetId": community, "data": object{"text": strconv.Itoa(i)}}
				if i == 0 {
					post["dataType"], post["data"] = "poll", object{"text": "0", "pollId": poll}
				}
				body := object{"scheduledAt": at, "postData": post}
				if status, answer, err := s.send(http.MethodPost, s.api+"/api/v1/posts/schedule", body); err != nil || status != http.StatusCreated {
					failures <- fmt.Sprint(status, answer, err)
				}
			}
		})
	}
	workers.Wait()
	close(failures)
	require.Empty(t, <-failures)
}

// makeDue lets the first n scheduled posts be due at a time, unless they are published.
func (f *fleet) makeDue(due time.Time, n int) {
	f.t.Helper()
	_, err := f.conn.Exec(f.t.Context(), `UPDATE scheduled_posts SET scheduled_at = $1, due_at = $1 WHERE status = 'WAIT'
		AND id IN (SELECT id FROM scheduled_posts ORDER BY id LIMIT $2)`, due, n)
	require.NoError(f.t, err)
}

// TestPublishedOnce has two processes publish posts that are due in the same second, which takes each of them several
// batches, and kills one process midway. Some posts are due after that, so that the other process has work left.
func TestPublishedOnce(t *testing.T) {
	t.Parallel()
	const posts = 600
	const published = `SELECT count(*) FROM posts WHERE target_id = $1 AND is_parent`
	f := newFleet(t)
	doomed, survivor := f.start(), f.start()
	survivor.signIn("author")
	community, _ := first(t, survivor.do(http.MethodPost, "/api/v3/communities", object{"displayName": "Gardening"}), "communities",
		"communityId").(string)
	poll, _ := first(t, survivor.do(http.MethodPost, "/api/v3/polls", object{
		"question": "Which?", "answers": []object{{"dataType": "text", "data": "this"}, {"dataType": "text", "data": "that"}},
	}), "polls", "pollId").(string)
	survivor.schedule(posts, community, poll)
	require.Zero(t, f.count(published, community), "published before their time")

	due := time.Now().Truncate(time.Second)
	const kept = 100 // posts that are due after the kill only
	f.makeDue(due, posts-kept)
	require.Eventually(t, func() bool { return f.count(published, community) > posts/3 }, apptest.Patience, time.Millisecond)
	doomed.kill()
	left := posts - f.count(published, community)
	require.GreaterOrEqual(t, left, kept)
	f.makeDue(due, posts)
	require.Eventually(t, func() bool { return f.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'WAIT'`) == 0 },
		apptest.Patience, 20*time.Millisecond)
	require.Eventually(t, func() bool { return f.count(`SELECT count(*) FROM outbox WHERE home = 'eu'`) == 0 }, apptest.Patience,
		20*time.Millisecond, "undelivered events")
	var last time.Time
	require.NoError(t, f.conn.QueryRow(t.Context(), `SELECT max(created_at) FROM posts WHERE target_id = $1`, community).Scan(&last))
	t.Logf("%d posts, %d of them left at the kill; the last one was published %s after its time", posts, left, last.Sub(due))

	require.Equal(t, posts, f.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted'`))
	require.Equal(t, posts, f.count(`SELECT sum(n) FROM counters WHERE ref = $1 AND kind = 'published'`, community))
	texts := map[string]int{}
	for path := "/api/v3/community-feeds/" + community + "?limit=100"; path != ""; path = survivor.readFeed(path, community, texts) {
	}
	require.Len(t, texts, posts, "in the feed of the community")
	for text, times := range texts {
		require.Equal(t, 1, times, text)
	}
	answer := survivor.do(http.MethodGet, "/api/v3/communities/"+community, nil)
	require.InDelta(t, posts, first(t, answer, "communities", "postsCount"), 0)
}

// readFeed counts the texts on a page of a community's feed and returns the path of the next page; empty after the last.
func (s *serverProcess) readFeed(path, community string, texts map[string]int) (next string) {
	s.fleet.t.Helper()
	answer := s.do(http.MethodGet, path, nil)
	data, _ := answer["data"].(map[string]any)
	posts, _ := data["posts"].([]any)
	for _, p := range posts {
		post, _ := p.(map[string]any)
		body, _ := post["data"].(map[string]any)
		text, _ := body["text"].(string)
		texts[text]++
	}
	paging, _ := answer["paging"].(map[string]any)
	token, _ := paging["next"].(string)
	if token == "" {
		return ""
	}
	return "/api/v3/community-feeds/" + community + "?token=" + token
}
