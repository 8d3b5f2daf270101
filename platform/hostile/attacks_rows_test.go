package hostile

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/defence"
)

// rowAttacks make the database store, or read, many rows or large ones.
func rowAttacks() []attack {
	return []attack{
		{
			name: "large metadata", unit: "posts stored", most: 0, run: largeMetadata, without: defence.ObjectSize,
		},
		{
			name: "large answers of idempotency keys", finding: "A7", unit: "KiB stored", most: 1100, run: storeAnswers,
			without: defence.StoredAnswers,
		},
		{
			name: "names of reactions", finding: "A8", unit: "rows of counts", most: 10, run: reactWithNames, without: defence.UnusedCounters,
		},
		{
			name: "rare filter", finding: "A10", unit: "rows read per request", most: 25_000, run: filterRarely, without: defence.ListWindows,
		},
		{
			name: "deleted messages", finding: "A10", unit: "rows read per request", most: 25_000, run: listDeleted, without: defence.ListWindows,
		},
	}
}

// largeMetadata creates posts with metadata that is nearly as large as a body may be.
func largeMetadata(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	community, err := user.newCommunity(ctx)
	if err != nil {
		return 0, err
	}
	body := postIn(community, `"data":{"text":"x"},"metadata":{"x":"`+strings.Repeat("x", 900_000)+`"}`)
	return accepted(ctx, 20, http.StatusUnprocessableEntity, func(ctx context.Context, _ int) (answer, error) {
		return user.do(ctx, http.MethodPost, "/api/v4/posts", body)
	})
}

// storeAnswers flags a post with many idempotency keys. The answers are nearly as large as those that are stored.
func storeAnswers(ctx context.Context, n *network) (float64, error) {
	users, err := n.newUsers(ctx, 2)
	if err != nil {
		return 0, err
	}
	community, err := users[0].newCommunity(ctx, users[1])
	if err != nil {
		return 0, err
	}
	post, err := users[0].newPost(ctx, community, `"data":{"text":"`+strings.Repeat("x", 5000)+`"}`)
	if err != nil {
		return 0, err
	}
	stored := func(ctx context.Context) (float64, error) {
		return n.query(ctx, "SELECT COALESCE(sum(length(answer)), 0) / 1024.0 FROM idempotency_keys")
	}
	return added(ctx, stored, func() error {
		return together(ctx, 300, func(i int) error {
			return users[1].patiently(ctx, http.MethodPost, "/api/v3/posts/"+post+"/flag", "Idempotency-Key", fmt.Sprintf("key-%d", i))
		})
	})
}

// reactWithNames reacts with one name after the other, and takes each reaction back.
func reactWithNames(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	community, err := user.newCommunity(ctx)
	if err != nil {
		return 0, err
	}
	post, err := user.newPost(ctx, community, `"data":{"text":"hello"}`)
	for i := range 40 {
		body := fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"reactionName":"name-%d"}`, post, i)
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			if err == nil {
				_, err = user.must(ctx, method, "/api/v2/reactions", body)
			}
		}
	}
	if err != nil {
		return 0, err
	}
	return n.query(ctx, "SELECT count(*) FROM counters WHERE ref = $1 AND kind LIKE 'reaction:%'", post)
}

// newChannel creates a channel with messages, which it inserts, and returns the path of those with a tag that none has. Each request of
// it reads 20,000 messages.
func (c *client) newChannel(ctx context.Context, n *network, messages int) (path string, err error) {
	a, err := c.must(ctx, http.MethodPost, "/api/v3/channels", `{"type":"community","displayName":"chat","userIds":[]}`)
	if err != nil {
		return "", err
	}
	feed := a.text("channels.0._id")
	if _, err = c.must(ctx, http.MethodPost, "/api/v5/messages",
		fmt.Sprintf(`{"messageFeedId":%q,"dataType":"text","data":{"text":"hello"}}`, feed)); err != nil {
		return "", err
	}
	return "/api/v5/messages?includeTags[]=rare&messageFeedId=" + feed, copyMessages(ctx, n, feed, messages)
}

// filterRarely lists the messages with a tag that none of 60,000 has.
func filterRarely(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	path, err := user.newChannel(ctx, n, 60_000)
	if err != nil {
		return 0, err
	}
	return messagesRead(ctx, n, user, path)
}

// listDeleted lists the messages that are not deleted of a channel in which all of 60,000 are.
func listDeleted(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	path, err := user.newChannel(ctx, n, 0)
	if err != nil {
		return 0, err
	}
	path, feed, _ := strings.Cut(path, "?includeTags[]=rare&messageFeedId=")
	if _, err = n.db.Exec(ctx, "UPDATE messages SET deleted_at = created_at WHERE feed_id = $1", feed); err == nil {
		err = copyMessages(ctx, n, feed, 60_000)
	}
	if err != nil {
		return 0, err
	}
	return messagesRead(ctx, n, user, path+"?isDeleted=false&messageFeedId="+feed)
}

// messagesRead returns how many messages the database reads for each GET request of a path.
func messagesRead(ctx context.Context, n *network, user *client, path string) (float64, error) {
	read := func(ctx context.Context) (float64, error) {
		pause(ctx, statisticsDelay)
		return n.query(ctx, "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'messages'")
	}
	rows, err := added(ctx, read, func() error {
		for range repeats {
			if _, err := user.must(ctx, http.MethodGet, path, ""); err != nil {
				return err
			}
		}
		return nil
	})
	return rows / repeats, err
}

// statisticsDelay is longer than PostgreSQL waits before a connection that is idle reports what it has read.
const statisticsDelay = 11 * time.Second

// copyMessages copies the message of a channel, each copy with the segment before the one of the last copy.
func copyMessages(ctx context.Context, n *network, feed string, count int) error {
	rows, err := n.db.Query(ctx, `SELECT column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = 'messages' AND is_generated = 'NEVER' ORDER BY ordinal_position`)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = column
		switch column {
		case "id":
			values[i] = "left(id, 2) || left(md5(feed_id || n::text), 22)"
		case "reference_id":
			values[i] = "'copy' || n::text"
		case "reference_hash":
			values[i] = "decode(md5(feed_id || n::text), 'hex')"
		case "segment":
			values[i] = "segment + n"
		}
	}
	_,
		err = n.db.Exec(ctx,
		fmt.Sprintf("INSERT INTO messages (%s) SELECT %s FROM messages, generate_series(1, $1::bigint) AS n WHERE feed_id = $2",
			strings.Join(columns, ", "), strings.Join(values, ", ")), count, feed)
	if err == nil {
		_, err = n.db.Exec(ctx, "ANALYZE messages")
	}
	return err
}
