package app_test

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store/db"
)

// withRole returns the URL of a database for another role, whose password is its name.
func withRole(t *testing.T, address, role string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(role, role)
	return u.String()
}

// createRoles runs roles.sql with names that no other test uses.
func createRoles(t *testing.T, address string) (owner, server string) {
	t.Helper()
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	suffix := "_" + hex.EncodeToString(random)
	owner, server = "plaza_owner"+suffix, "plaza_server"+suffix
	text, err := os.ReadFile("../cmd/plaza/roles.sql")
	require.NoError(t, err)
	execute(t, address, strings.NewReplacer(
		":'owner_password'", "'"+owner+"'", ":'server_password'", "'"+server+"'", "plaza_owner", owner, "plaza_server", server,
	).Replace(string(text)))
	return withRole(t, address, owner), withRole(t, address, server)
}

// TestTwoDatabaseRoles migrates with one role and serves with another one, which can neither change the schema nor remove
// tables. Requests and background work need no more.
func TestTwoDatabaseRoles(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Log("the test checks the rights on PostgreSQL")
		return
	}
	adminURL := testdb.New(t)
	ownerURL, serverURL := createRoles(t, adminURL)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: ownerURL}))
	cfg := fullConfig(t, serverURL)
	cfg.StorageURL = config.StorageURL("file://" + t.TempDir())
	log := &lines{}
	r := runWithLog(t, cfg, slog.New(slog.NewTextHandler(log, nil)))
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	useEverything(t, r, cfg)
	require.Zero(t, log.count("permission denied"))
	require.Zero(t, log.count("level=ERROR"))
	require.Zero(t, log.count("job failed"))

	conn, err := pgx.Connect(t.Context(), serverURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, sql := range []string{
		"CREATE TABLE mine (id INT)", "DROP TABLE posts", "ALTER TABLE users ADD COLUMN x INT", "TRUNCATE users", "CREATE INDEX ON users (id)",
		"CREATE ROLE other",
		"UPDATE audit_events SET actor = 'x'", "DELETE FROM audit_events", "UPDATE audit_targets SET id = 'x'", "DELETE FROM audit_targets",
		"UPDATE audit_details SET value = '{}'", "TRUNCATE audit_events", "DROP FUNCTION delete_audit_events",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "(SQLSTATE 42501)", sql)
	}
	requireAppendOnly(t, conn)
	requireFixedNames(t, adminURL, conn)
}

// requireFixedNames has the role of the servers define now() in another way: young audit events remain.
func requireFixedNames(t *testing.T, adminURL string, conn *pgx.Conn) {
	t.Helper()
	admin, err := pgx.Connect(t.Context(), adminURL)
	require.NoError(t, err)
	defer func() { _ = admin.Close(t.Context()) }()
	_,
		err = admin.Exec(t.Context(),
		`CREATE SCHEMA other; CREATE FUNCTION other.now() RETURNS timestamptz LANGUAGE SQL AS $$ SELECT 'infinity'::timestamptz $$;
		GRANT USAGE ON SCHEMA other TO PUBLIC`)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `SET search_path = other, pg_catalog, public`)
	require.NoError(t, err)
	var deleted int
	require.NoError(t, conn.QueryRow(t.Context(), deleteAuditEvents).Scan(&deleted))
	require.Zero(t, deleted)
}

// deleteAuditEvents asks for the deletion of all audit events of a home.
const deleteAuditEvents = `SELECT delete_audit_events('us', array_agg(at), array_agg(id)) FROM audit_events WHERE home = 'us'`

// requireAppendOnly has the role of the servers delete audit events: only those older than 30 days go.
func requireAppendOnly(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	insert := `INSERT INTO audit_events (home, at, id, actor_kind, actor, key_id, roles, permission, operation, targets, request_id)
		VALUES ('us', now() - $1::text::interval, $2, '', '', '', '{}', '', '', '[]', '')`
	for age, id := range map[string]string{"29 days 23 hours": "young", "30 days 1 hour": "old"} {
		_, err := conn.Exec(t.Context(), insert, age, id)
		require.NoError(t, err)
	}
	var deleted int
	require.NoError(t, conn.QueryRow(t.Context(), deleteAuditEvents).Scan(&deleted))
	require.Equal(t, 1, deleted)
	rows, err := conn.Query(t.Context(), `SELECT id FROM audit_events WHERE id IN ('young', 'old')`)
	require.NoError(t, err)
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"young"}, left)
}

// useEverything signs a user in and writes rows of many tables, outbox rows among them.
func useEverything(t *testing.T, r *running, cfg config.Config) {
	t.Helper()
	key, err := auth.EnsureKeySet(cfg.APIKeysFile, "k1")
	require.NoError(t, err)
	ring, err := auth.OpenKeyring(cfg.SigningKeysFile)
	require.NoError(t, err)
	authToken, err := auth.NewIssuer(string(cfg.NetworkID), ring).MintAuthToken("alice")
	require.NoError(t, err)
	call := func(method, path, body string, header ...string) map[string]any {
		t.Helper()
		status, text := send(t, method, "http://"+r.APIAddr()+path, body, header...)
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, status, "%s %s: %s", method, path, text)
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &answer))
		return answer
	}
	first := func(answer map[string]any, list, field string) string {
		t.Helper()
		text, _ := answer[list].([]any)[0].(map[string]any)[field].(string)
		require.NotEmpty(t, text)
		return text
	}
	session := call(http.MethodPost, "/api/v5/sessions",
		fmt.Sprintf(`{"userId":"alice","deviceId":"d","profileHandle":"alice","authToken":%q}`, authToken), "X-API-Key", key)
	token := []string{"Authorization", "Bearer " + session["accessToken"].(string)}
	community := first(call(http.MethodPost, "/api/v3/communities", `{"displayName":"c","tags":["t"]}`, token...), "communities",
		"communityId")
	post := first(call(http.MethodPost, "/api/v4/posts",
		fmt.Sprintf(`{"targetType":"community","targetId":%q,"data":{"text":"x"}}`, community), token...), "posts", "postId")
	call(http.MethodPost, "/api/v3/comments", fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"data":{"text":"x"}}`, post), token...)
	call(http.MethodPost, "/api/v2/reactions", fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"reactionName":"like"}`, post), token...)
	channel := first(call(http.MethodPost, "/api/v3/channels", `{"type":"community","displayName":"chat"}`, token...), "channels", "channelId")
	call(http.MethodPost, "/api/v5/messages", fmt.Sprintf(`{"messageFeedId":%q,"dataType":"text","data":{"text":"x"}}`, channel), token...)
	call(http.MethodPut, "/api/v3/users", `{"profileHandle":"alice2","displayName":"Alice"}`, token...)
	call(http.MethodGet, "/api/v3/users", "", token...)
	call(http.MethodDelete, "/api/v4/posts/"+post, "", token...)
}
