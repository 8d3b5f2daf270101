package hostile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/plaza-social/plaza/platform/defence"
)

const mebibyte = 1 << 20

// allocationAttacks make the server allocate memory.
func allocationAttacks() []attack {
	return []attack{
		{
			name: "large objects by id", finding: "A1", unit: "bytes allocated per byte answered", most: 8, run: batchGet,
			without: defence.RawObjects,
		},
		{
			name: "views of large posts", finding: "A2", unit: "MiB allocated per request", most: 2, run: reportViews, without: defence.PostHeads,
		},
		{
			name: "reads by a user whom 20,000 block", finding: "A9", unit: "MiB allocated per request", most: 2, run: readWithBlockers,
			without: defence.HiddenUsers,
		},
		{
			name: "image of 100 million pixels", unit: "MiB allocated", most: 16, run: largeImage,
			settings: []string{"PLAZA_MAX_IMAGE_PIXELS=200000000"},
		},
	}
}

// repeats is how often the attacks that measure a request send it: other work of the servers must not count.
const repeats = 10

// newLargePosts creates posts of the largest size by a new user.
func newLargePosts(ctx context.Context, n *network, count int) (author *client, ids []string, err error) {
	if author, err = n.newUser(ctx); err != nil {
		return nil, nil, err
	}
	community, err := author.newCommunity(ctx)
	for range count {
		if err != nil {
			break
		}
		var id string
		id, err = author.newPost(ctx, community, largePost)
		ids = append(ids, id)
	}
	return author, ids, err
}

// batchGet reads large posts by their ids.
func batchGet(ctx context.Context, n *network) (float64, error) {
	author, ids, err := newLargePosts(ctx, n, 20)
	if err != nil {
		return 0, err
	}
	var answered int
	allocated, err := added(ctx, n.allocated, func() error {
		for range repeats {
			a, err := author.must(ctx, http.MethodGet, "/api/v3/posts/list?postIds[]="+strings.Join(ids, "&postIds[]="), "")
			if err != nil {
				return err
			}
			answered += len(a.body)
		}
		return nil
	})
	if err == nil && answered < repeats*len(ids)*len(largePost)/2 {
		err = fmt.Errorf("the server answered only %d bytes", answered)
	}
	return allocated / float64(answered), err
}

// reportViews reports views of large posts.
func reportViews(ctx context.Context, n *network) (float64, error) {
	author, ids, err := newLargePosts(ctx, n, 40)
	if err != nil {
		return 0, err
	}
	var activities []string
	for _, id := range ids {
		activities = append(activities,
			fmt.Sprintf(`{"contentId":%q,"contentType":"post","activityType":"view","timestamp":"2026-01-02T03:04:05.000Z"}`, id))
	}
	body := `{"activities":[` + strings.Join(activities, ",") + `]}`
	allocated, err := added(ctx, n.allocated, func() error {
		for range repeats {
			a, err := author.do(ctx, http.MethodPost, "/api/v1/analytics/activities", body)
			if err != nil || a.status != http.StatusAccepted {
				return fmt.Errorf("status %d: %s: %w", a.status, a.body, err)
			}
		}
		return nil
	})
	return allocated / repeats / mebibyte, err
}

// readWithBlockers reads feeds as a user whom many others block. Their blocks are rows that the attack inserts, as many requests would.
func readWithBlockers(ctx context.Context, n *network) (float64, error) {
	reader, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	_, err = n.db.Exec(ctx, `INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
		SELECT home, id, 'eu' || lpad(n::text, 22, '0'), 'blocked', 1, now() FROM users, generate_series(1, 20000) AS n WHERE id = $1`,
		reader.ownID)
	if err != nil {
		return 0, err
	}
	allocated, err := added(ctx, n.allocated, func() error {
		for range repeats {
			if _, err := reader.must(ctx, http.MethodGet, "/api/v5/me/global-feeds?limit=20", ""); err != nil {
				return err
			}
		}
		return nil
	})
	return allocated / repeats / mebibyte, err
}

// largeImage uploads an image with twice as many pixels as allowed.
func largeImage(ctx context.Context, n *network) (float64, error) {
	const side = 10_000
	uploader, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	var content bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&content, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		return 0, err
	}
	form, contentType, err := formOf("large.png", content.Bytes())
	if err != nil {
		return 0, err
	}
	allocated, err := added(ctx, n.allocated, func() error {
		a, err := uploader.do(ctx, http.MethodPost, "/api/v4/images", form, "Content-Type", contentType)
		if err == nil && a.status != http.StatusOK && a.status != http.StatusUnprocessableEntity {
			err = fmt.Errorf("status %d: %s", a.status, a.body)
		}
		return err
	})
	return allocated / mebibyte, err
}

// formOf returns a form with files of the same name.
func formOf(name string, contents ...[]byte) (form, contentType string, err error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, content := range contents {
		part, err := w.CreateFormFile("files", name)
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			return "", "", err
		}
	}
	err = w.Close()
	return body.String(), w.FormDataContentType(), err
}
