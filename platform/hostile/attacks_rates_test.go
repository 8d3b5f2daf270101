package hostile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/region"
)

// rateAttacks send more requests than a rate limit allows, or requests that must not be refused.
func rateAttacks() []attack {
	return []attack{
		{
			name: "requests of a user", unit: "requests accepted beyond the rate", most: 110, run: manyRequests,
			settings: []string{"PLAZA_RATE_LIMIT=100000/5s"},
		},
		{
			name: "requests of a user in all regions", finding: "A13", unit: "requests accepted beyond the rate", most: 115, run: requestsEverywhere,
			without: defence.SharedRateLimits,
		},
		{
			name: "sign-ups", unit: "users created beyond the rate", most: 110, run: signUps, settings: []string{"PLAZA_SESSION_RATE_LIMIT=off"},
		},
		{
			name: "wrong tokens by MQTT", finding: "A5", unit: "wrong tokens answered beyond the rate", most: 110, run: wrongTokens,
			settings: []string{"PLAZA_CREDENTIAL_RATE_LIMIT=off"},
		},
		{
			name: "requests during a move", finding: "A14", unit: "requests refused", most: 8, run: writeDuringMove, without: defence.HeldRequests,
		},
	}
}

const (
	userRequestsPerSecond = 20        // by the rate limit of a user
	sessionsPerSecond     = 100. / 60 // by that of an address
	credentialsPerSecond  = 100. / 60
)

// manyRequests sends more requests of a user than allowed.
func manyRequests(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	return beyondRefill(ctx, 400, userRequestsPerSecond, func(ctx context.Context, _ int) (answer, error) {
		return user.do(ctx, http.MethodGet, "/api/v3/users/"+user.userID, "")
	})
}

// requestsEverywhere is manyRequests in all regions at once.
func requestsEverywhere(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	var clients []*client
	for _, home := range region.All() {
		clients = append(clients, user.at(n, home))
	}
	return beyondRefill(ctx, 900, userRequestsPerSecond, func(ctx context.Context, i int) (answer, error) {
		return clients[i%len(clients)].do(ctx, http.MethodGet, "/api/v3/users/"+user.userID, "")
	})
}

// signUps creates users from one address.
func signUps(ctx context.Context, n *network) (float64, error) {
	c := n.anonymous(2, http.Header{"X-Api-Key": {n.facts.APIKey}})
	return beyondRefill(ctx, 300, sessionsPerSecond, func(ctx context.Context, i int) (answer, error) {
		return c.do(ctx, http.MethodPost, "/api/v5/sessions", fmt.Sprintf(`{"userId":"sign-up-%d","deviceId":"device"}`, i))
	})
}

// wrongTokens tries tokens by MQTT.
func wrongTokens(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	return beyondRefill(ctx, 300, credentialsPerSecond, func(_ context.Context, i int) (answer, error) {
		connection, err := connectMQTT(n, user, fmt.Sprintf("wrong-%d", i))
		switch {
		case err == nil:
			connection.Disconnect(0)
			return answer{}, errors.New("the server accepts a wrong token")
		case errors.Is(err, packets.ErrorRefusedNotAuthorised):
			return answer{status: http.StatusOK}, nil
		case errors.Is(err, packets.ErrorRefusedServerUnavailable):
			return answer{status: http.StatusTooManyRequests}, nil
		}
		return answer{}, err
	})
}

// writeDuringMove has users comment on a post of a user who moves to another home, and counts the comments that are refused. All others
// must be stored.
func writeDuringMove(ctx context.Context, n *network) (float64, error) {
	users, err := n.newUsers(ctx, 9)
	if err != nil {
		return 0, err
	}
	moving, writers := users[0], users[1:]
	a, err := moving.must(ctx, http.MethodPost, "/api/v4/posts",
		fmt.Sprintf(`{"targetType":"user","targetId":%q,"data":{"text":"hello"}}`, moving.userID))
	if err != nil {
		return 0, err
	}
	post := a.text("posts.0.postId")
	moved, end := context.WithCancel(ctx)
	defer end()
	var written, refused atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- together(ctx, len(writers), func(i int) error { return writers[i].comment(ctx, moved, post, &written, &refused) })
	}()
	err = moveUser(ctx, n, moving.userID)
	end()
	if err := errors.Join(err, <-ended); err != nil {
		return 0, err
	}
	stored, err := n.query(ctx, "SELECT count(*) FROM comments WHERE reference_id = $1", post)
	if err == nil && (stored == 0 || int64(stored) != written.Load()) {
		err = fmt.Errorf("%d comments were acknowledged, and %v are stored", written.Load(), stored)
	}
	return float64(refused.Load()), err
}

// comment writes comments on a post until a move has ended, and counts those that were written and those that were refused.
func (c *client) comment(ctx, moved context.Context, post string, written, refused *atomic.Int64) error {
	body := fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"data":{"text":"hello"}}`, post)
	for moved.Err() == nil {
		a, err := c.do(ctx, http.MethodPost, "/api/v3/comments", body)
		switch {
		case err != nil:
			return err
		case a.status == http.StatusOK:
			written.Add(1)
		case a.status == http.StatusServiceUnavailable:
			refused.Add(1)
		default:
			return fmt.Errorf("status %d: %s", a.status, a.body)
		}
		pause(moved, time.Second/userRequestsPerSecond)
	}
	return nil
}

// moveUser moves a user to us and waits for the end.
func moveUser(ctx context.Context, n *network, userID string) error {
	admin, path := n.admin(), "/api/v4/users/"+userID+"/move"
	a, err := admin.must(ctx, http.MethodPost, path, `{"region":"us"}`)
	for err == nil && a.text("move.state") != "done" {
		if a.text("move.state") == "cancelled" {
			return fmt.Errorf("the move was cancelled: %s", a.body)
		}
		pause(ctx, 200*time.Millisecond)
		a, err = admin.must(ctx, http.MethodGet, path, "")
	}
	return err
}
