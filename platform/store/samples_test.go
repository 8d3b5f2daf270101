package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// now is when everything happens that has to happen at some time.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// later is n seconds after now.
func later(n int) time.Time { return now.Add(time.Duration(n) * time.Second) }

// scanRow reads one row into values.
func scanRow(into ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		return rows.Scan(into...)
	}
}

func aUser(home region.Code, publicID string) people.User {
	return people.User{ID: region.NewID(home), PublicID: publicID, DisplayName: publicID}
}

// newUser stores a user.
func newUser(t testing.TB, s *store.Store, home region.Code, publicID string) people.User {
	t.Helper()
	u := aUser(home, publicID)
	w := s.NewTx(home)
	w.InsertUser(u, now)
	commit(t, w)
	return u
}

func aCommunity(home region.Code) communities.Community {
	return communities.Community{
		ID: region.NewID(home), DisplayName: "Bird watchers", CreatorID: region.NewID(home), CreatorPublicID: "anna", IsPublic: true,
		IsDiscoverable: true, NotificationMode: "default", Type: "default", Metadata: []byte(`{}`),
	}
}

// newCommunity stores a community.
func newCommunity(t testing.TB, s *store.Store, home region.Code, change ...func(*communities.Community)) communities.Community {
	t.Helper()
	c := aCommunity(home)
	for _, f := range change {
		f(&c)
	}
	w := s.NewTx(home)
	w.InsertCommunity(c, nil, now)
	commit(t, w)
	return c
}

func aCategory(home region.Code, name string) communities.Category {
	return communities.Category{ID: region.NewID(home), Name: name, Metadata: []byte(`{}`)}
}

func homeOf(id string) region.Code {
	home, err := region.HomeOf(id)
	if err != nil {
		panic(err)
	}
	return home
}

func aJoinRequest(c communities.Community) communities.JoinRequest {
	return communities.JoinRequest{
		CommunityID: c.ID, ID: region.NewID(homeOf(c.ID)), RequestorID: region.NewID(region.EU), RequestorPublicID: "ben",
		Status: communities.JoinPending, CreatedAt: now,
	}
}

func aPost(c communities.Community) content.Post {
	return content.Post{
		ID: region.NewID(homeOf(c.ID)), TargetType: "community", TargetID: c.ID, TargetPublicID: c.ID, AuthorID: region.NewID(region.EU),
		AuthorPublicID: "ben", IsParent: true, FeedType: "published", DataType: "text", StructureType: "text", Data: []byte(`{"text": "hello"}`),
		Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: now,
	}
}

// newPost stores a post and counts it, as the program does.
func newPost(t testing.TB, s *store.Store, c communities.Community, change ...func(*content.Post)) content.Post {
	t.Helper()
	p := aPost(c)
	for _, f := range change {
		f(&p)
	}
	w := s.NewTx(homeOf(p.ID))
	w.InsertPost(p)
	if p.IsParent {
		w.Count(p.TargetID, content.PostCounter(p.FeedType), +1)
	}
	commit(t, w)
	return p
}

func aComment(p content.Post) content.Comment {
	id := region.NewID(homeOf(p.ID))
	return content.Comment{
		ID: id, ReferenceType: "post", ReferenceID: p.ID, TargetType: p.TargetType, TargetID: p.TargetID, TargetPublicID: p.TargetPublicID,
		RootID: id, AuthorID: region.NewID(region.SG), AuthorPublicID: "cleo", DataTypes: []string{"text"}, Data: []byte(`{"text": "well"}`),
		Metadata: []byte(`{}`), Mentionees: []byte(`[]`), Attachments: []byte(`[]`), ApprovalStatus: "approved", CreatedAt: now,
	}
}

// newComment stores a comment.
func newComment(t testing.TB, s *store.Store, p content.Post, change ...func(*content.Comment)) content.Comment {
	t.Helper()
	c := aComment(p)
	for _, f := range change {
		f(&c)
	}
	w := s.NewTx(homeOf(c.ID))
	w.InsertComment(c)
	commit(t, w)
	return c
}

// countsOf reads the counts of references of one home.
func countsOf(t testing.TB, s *store.Store, refs ...string) core.Counts {
	t.Helper()
	counts := core.Counts{}
	r := s.NewReadBatch()
	r.Counts(homeOf(refs[0]), refs, counts)
	run(t, r)
	return counts
}

// rotations returns the first 1, 4 and 16 of some ids, with unknown ones after them, in all orders that begin with another id: statements
// that have a part for each value read every id in every part.
func rotations(ids []string) [][]string {
	var all [][]string
	for _, n := range []int{1, 4, 16} {
		some := slices.Clone(ids[:min(n, len(ids))])
		for len(some) < n {
			some = append(some, region.NewID(homeOf(ids[0])))
		}
		for i := range some {
			all = append(all, append(slices.Clone(some[i:]), some[:i]...))
		}
	}
	return all
}
