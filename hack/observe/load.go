package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// user is a user of the load, who is signed in to a region.
type user struct {
	client      *http.Client
	base, token string
	communityID string
	postID      string
}

// clients is how many send requests to a region at the same time, so that the load goes on while some wait for a slow response.
const clients = 5

// startLoad signs a user in to each region, and sends a few requests per second for each of them until ctx ends.
func (n *network) startLoad(ctx context.Context) error {
	client := &http.Client{Timeout: 10 * time.Second}
	for code, p := range n.api {
		u := &user{client: client, base: "http://" + p.Addr()}
		if err := u.signIn(ctx, n.apiKey, code); err != nil {
			return fmt.Errorf("signing a user in to %s: %w", code, err)
		}
		if err := u.prepare(ctx); err != nil {
			return fmt.Errorf("creating a community in %s: %w", code, err)
		}
		for range clients {
			go u.run(ctx)
		}
	}
	return nil
}

func (u *user) signIn(ctx context.Context, apiKey, code string) error {
	var answer struct{ AccessToken string }
	err := u.send(ctx, "POST", "/api/v5/sessions", `{"userId":"load-`+code+`","deviceId":"load","displayName":"Load"}`, &answer, "X-API-Key",
		apiKey)
	u.token = answer.AccessToken
	return err
}

func (u *user) prepare(ctx context.Context) error {
	var made struct {
		Communities []struct{ CommunityID string }
	}
	if err := u.send(ctx, "POST", "/api/v3/communities", `{"displayName":"Load"}`, &made); err != nil {
		return err
	}
	u.communityID = made.Communities[0].CommunityID
	var posted struct {
		Posts []struct{ PostID string }
	}
	if err := u.send(ctx, "POST", "/api/v4/posts", u.post(), &posted); err != nil {
		return err
	}
	u.postID = posted.Posts[0].PostID
	return nil
}

func (u *user) post() string {
	return `{"targetType":"community","targetId":"` + u.communityID + `","data":{"text":"hello"}}`
}

// run sends requests, some of them wrong, whose results do not matter.
func (u *user) run(ctx context.Context) {
	for ctx.Err() == nil {
		for _, r := range [][3]string{
			{"GET", "/api/v3/posts/" + u.postID, ""},
			{"POST", "/api/v3/comments", `{"referenceType":"post","referenceId":"` + u.postID + `","data":{"text":"hello"}}`},
			{"GET", "/api/v3/users", ""},
			{"GET", "/api/v3/posts/none", ""},
			{"POST", "/api/v4/posts", u.post()},
		} {
			_ = u.send(ctx, r[0], r[1], r[2], nil)
			pause(ctx, 250*time.Millisecond)
		}
		_ = (&user{client: u.client, base: u.base, token: "wrong"}).send(ctx, "GET", "/api/v3/users", "", nil)
	}
}

// send sends a request and decodes the answer unless into is nil.
func (u *user) send(ctx context.Context, method, path, body string, into any, header ...string) error {
	request, err := http.NewRequestWithContext(ctx, method, u.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if u.token != "" {
		request.Header.Set("Authorization", "Bearer "+u.token)
	}
	if len(header) == 2 {
		request.Header.Set(header[0], header[1])
	}
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || into == nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return json.Unmarshal(text, into)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
