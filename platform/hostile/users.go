package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	userCount = 8
	// userInterval is the time between two requests of a user, well within the rate limit.
	userInterval = 150 * time.Millisecond
	// createEvery is the share of requests that create a post.
	createEvery = 8
)

// users are users who behave: they read the posts of their community, and sometimes write one.
type users struct {
	n         *network
	tokens    []string
	community string
}

func newUsers(ctx context.Context, n *network) (*users, error) {
	u := &users{n: n}
	for range userCount {
		token, err := n.signIn(ctx, n.client)
		if err != nil {
			return nil, err
		}
		u.tokens = append(u.tokens, token)
	}
	var err error
	if u.community, err = newCommunity(ctx, n, u.tokens[0]); err != nil {
		return nil, err
	}
	for _, token := range u.tokens[1:] {
		if err := n.call(ctx, n.client, http.MethodPost, "/api/v3/communities/"+u.community+"/join", bearer(token), "", nil); err != nil {
			return nil, err
		}
	}
	return u, u.createPosts(ctx)
}

func newCommunity(ctx context.Context, n *network, token string) (string, error) {
	var answer struct {
		Communities []struct {
			CommunityID string `json:"communityId"`
		} `json:"communities"`
	}
	err := n.call(ctx, n.client, http.MethodPost, "/api/v3/communities", bearer(token), `{"displayName":"quiet"}`, &answer)
	if err != nil {
		return "", err
	}
	return answer.Communities[0].CommunityID, nil
}

func (u *users) createPosts(ctx context.Context) error {
	for range 40 {
		if err := u.create(ctx, u.tokens[0]); err != nil {
			return err
		}
	}
	return nil
}

func (u *users) create(ctx context.Context, token string) error {
	return createPost(ctx, u.n, token, u.community, `{"text":"hello"}`, `{}`)
}

func createPost(ctx context.Context, n *network, token, community, data, metadata string) error {
	body := fmt.Sprintf(`{"targetType":"community","targetId":%q,"data":%s,"metadata":%s}`, community, data, metadata)
	return n.call(ctx, n.client, http.MethodPost, "/api/v4/posts", bearer(token), body, nil)
}

func (u *users) read(ctx context.Context, token string) error {
	return u.n.call(ctx, u.n.client, http.MethodGet, "/api/v3/community-feeds/"+u.community+"?limit=20", bearer(token), "", nil)
}

// measure sends requests of all users for a time, and returns the 99th percentile of their latency.
func (u *users) measure(ctx context.Context, window time.Duration) (time.Duration, error) {
	var g sync.WaitGroup
	var mu sync.Mutex
	var latencies []time.Duration
	var errs []error
	for i, token := range u.tokens {
		g.Go(func() {
			pause(ctx, time.Duration(i)*userInterval/userCount)
			each, err := u.measureOne(ctx, token, window)
			mu.Lock()
			defer mu.Unlock()
			latencies, errs = append(latencies, each...), append(errs, err)
		})
	}
	g.Wait()
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("a user's request failed: %w", err)
	}
	slices.Sort(latencies)
	return latencies[len(latencies)*99/100], nil
}

// measureOne sends the requests of one user at a steady rate.
func (u *users) measureOne(ctx context.Context, token string, window time.Duration) ([]time.Duration, error) {
	var latencies []time.Duration
	ticker := time.NewTicker(userInterval)
	defer ticker.Stop()
	for end := time.Now().Add(window); time.Now().Before(end) && ctx.Err() == nil; <-ticker.C {
		send := u.read
		if len(latencies)%createEvery == createEvery-1 {
			send = u.create
		}
		began := time.Now()
		if err := send(ctx, token); err != nil {
			return nil, err
		}
		latencies = append(latencies, time.Since(began))
	}
	return latencies, ctx.Err()
}
