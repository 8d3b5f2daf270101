package main

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
			name: "wrong tokens by MQTT", finding: "A5", unit: "tokens checked beyond the rate", most: 110, run: wrongTokens,
			settings: []string{"PLAZA_CREDENTIAL_RATE_LIMIT=off"},
		},
		{
			name: "requests during a move", finding: "A14", unit: "requests refused", most: 0, run: writeDuringMove, without: defence.HeldRequests,
		},
	}
}

const (
	usersPerSecond       = 20        // by the rate limit of a user
	sessionsPerSecond    = 100. / 60 // by that of an address
	credentialsPerSecond = 100. / 60
)

// manyRequests sends more requests of a user than allowed.
func manyRequests(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	return beyondRefill(ctx, 400, usersPerSecond, func(ctx context.Context, _ int) (answer, error) {
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
	return beyondRefill(ctx, 900, usersPerSecond, func(ctx context.Context, i int) (answer, error) {
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

// writeDuringMove has users comment on a post of a user who moves to another home, and counts the comments that are refused.
func writeDuringMove(ctx context.Context, n *network) (float64, error) {
	users, err := n.newUsers(ctx, 9)
	if err != nil {
		return 0, err
	}
	moving, writers := users[0], users[1:]
	a, err := moving.must(ctx, http.MethodPost, "/api/v4/posts", fmt.Sprintf(`{"targetType":"user","targetId":%q,"data":{"text":"hello"}}`, moving.userID))
	if err != nil {
		return 0, err
	}
	body := fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"data":{"text":"hello"}}`, a.text("posts.0.postId"))
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var refused atomic.Int64
	ended := make(chan error, 1)
	go func() {
		ended <- together(writing, len(writers), func(i int) error {
			for writing.Err() == nil {
				a, err := writers[i].do(writing, http.MethodPost, "/api/v3/comments", body)
				if err == nil && a.status != http.StatusOK {
					refused.Add(1)
				}
				if err != nil && writing.Err() == nil {
					return err
				}
				pause(writing, time.Second/usersPerSecond)
			}
			return nil
		})
	}()
	err = moveUser(ctx, n, moving.userID)
	stop()
	if written := <-ended; err == nil && !errors.Is(written, context.Canceled) {
		err = written
	}
	return float64(refused.Load()), err
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
