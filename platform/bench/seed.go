package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// amounts is the amount of data.
type amounts struct {
	watchers     int // users who belong to nothing
	users        int // members of every community; the first reads, the second creates, all flag
	authors      int // number of users, starting with the third, who wrote the posts and comments
	feedPosts    int // posts in the community whose feed is read
	feedComments int // comments on each of them
	flagPosts    int // posts in the community whose comments are flagged
	flagComments int // comments on each of them
	circles      int // communities in which posts are created
	reactions    int // reactions to each post, with two names
	channels     int // channels in which messages are created
}

// threadComments is the number of comments on the post whose comments are listed.
const threadComments = 50

// benchmarkAmounts is the amount for measurements: more than a page, several of everything, and enough comments and
// users that no flag is repeated.
func benchmarkAmounts() amounts {
	return amounts{
		users: 100, authors: 12, feedPosts: 200, feedComments: 5, flagPosts: 500, flagComments: 8, circles: 8, reactions: 4, channels: 200,
		watchers: 320,
	}
}

func (a amounts) posts() int { return a.feedPosts + a.flagPosts }

func (a amounts) comments() int { return a.feedPosts*a.feedComments + a.flagPosts*a.flagComments }

// data are the ids used in requests.
type data struct {
	people   []person
	watchers []person // users who belong to nothing
	feed     string   // the community whose feed is read
	post     string   // a post of it
	circles  []string // communities in which posts are created
	comments []string // comments to flag; adjacent ones belong to different posts
	channels []string // channels for messages; all users are members of the first one
	posts    []string // of the community whose feed is read
	thread   string   // a post with comments of more than one page
	apiKey   string
}

type person struct {
	id, public string
	token      string // of a session
	signIn     string // token to sign in
}

type seeder struct {
	*data
	amounts

	store  *store.Store
	issuer *auth.Issuer
	now    time.Time
}

// seed fills an empty database.
func seed(ctx context.Context, st *store.Store, issuer *auth.Issuer, a amounts) (*data, error) {
	s := &seeder{data: &data{}, amounts: a, store: st, issuer: issuer, now: service.Millis().Add(-24 * time.Hour)}
	if err := s.addPeople(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.feed, err = s.addCommunity(ctx, "Harbour walks"); err != nil {
		return nil, err
	}
	posts, _, err := s.addPosts(ctx, s.feed, a.feedPosts, a.feedComments)
	if err != nil {
		return nil, err
	}
	s.data.posts, s.post = posts, posts[a.feedPosts/2]
	flagged, err := s.addCommunity(ctx, "Loud opinions")
	if err != nil {
		return nil, err
	}
	if _, s.data.comments, err = s.addPosts(ctx, flagged, a.flagPosts, a.flagComments); err != nil {
		return nil, err
	}
	threads, _, err := s.addPosts(ctx, flagged, 1, threadComments)
	if err != nil {
		return nil, err
	}
	s.data.thread = threads[0]
	for i := range a.circles {
		id, err := s.addCommunity(ctx, fmt.Sprintf("Circle %d", i+1))
		if err != nil {
			return nil, err
		}
		s.data.circles = append(s.data.circles, id)
	}
	return s.data, s.addChannels(ctx)
}

// addChannels adds channels. All users are members of the first one, and four are members of each of the others.
func (s *seeder) addChannels(ctx context.Context) error {
	for i := range s.amounts.channels {
		members := s.people
		if i > 0 {
			members = s.people[:4]
		}
		id, now := region.NewID(home), s.tick()
		w := s.store.NewTx(home)
		w.InsertChannel(messaging.Channel{
			ID: id, PublicID: id, Type: messaging.ChannelCommunity, DisplayName: fmt.Sprintf("Channel %d", i+1), IsPublic: true,
			CreatorID: s.people[0].id, CreatorPublicID: s.people[0].public, Metadata: []byte(`{}`), NotificationMode: "default",
		}, nil, now)
		w.InsertMessageFeed(messaging.MessageFeed{
			ID: id, EntityID: id, ChannelPublicID: id, ChannelType: messaging.ChannelCommunity, CreatorID: s.people[0].id,
			CreatorPublicID: s.people[0].public, CreatedAt: now,
		})
		w.ChangeChannelUsers(id, channelUsers(id, members, now), now)
		if err := w.Commit(ctx); err != nil {
			return err
		}
		s.data.channels = append(s.data.channels, id)
	}
	return nil
}

func channelUsers(channelID string, members []person, now time.Time) []messaging.ChannelUserChange {
	changes := make([]messaging.ChannelUserChange, len(members))
	for i, p := range members {
		changes[i].New = messaging.ChannelUser{
			ChannelID: channelID, UserID: p.id, UserPublicID: p.public, Membership: messaging.ChannelMember, Roles: []string{auth.RoleChannelMember},
			JoinedAt: now, CreatedAt: now, UpdatedAt: now,
		}
	}
	return changes
}

// tick returns a new time for each call.
func (s *seeder) tick() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *seeder) addPeople(ctx context.Context) error {
	w := s.store.NewTx(home)
	for i := range s.users {
		p, err := addPerson(w, s.issuer, fmt.Sprintf("person-%d", i+1), fmt.Sprintf("Person %d", i+1), s.tick())
		if err != nil {
			return err
		}
		s.people = append(s.people, p)
	}
	for i := range s.amounts.watchers {
		p, err := addPerson(w, s.issuer, fmt.Sprintf("watcher-%d", i+1), fmt.Sprintf("Watcher %d", i+1), s.tick())
		if err != nil {
			return err
		}
		s.data.watchers = append(s.data.watchers, p)
	}
	return w.Commit(ctx)
}

// addPerson adds a user with a session.
func addPerson(w *store.Tx, issuer *auth.Issuer, public, name string, now time.Time) (person, error) {
	p, session := person{id: region.NewID(home), public: public}, region.NewID(home)
	token, issued, expires, err := issuer.MintAccess(auth.AccessSubject{UserID: p.id, PublicID: public, SessionID: session})
	signIn, signInErr := issuer.MintAuthToken(public)
	p.token, p.signIn = token, signIn
	w.InsertUser(people.User{ID: p.id, PublicID: public, DisplayName: name}, now)
	w.InsertSession(people.Session{ID: session, UserID: p.id, DeviceHash: []byte("bench"), CreatedAt: issued, ExpiresAt: expires})
	return p, errors.Join(err, signInErr)
}

// addCommunity adds a community of which all users are members; the last one is its creator.
func (s *seeder) addCommunity(ctx context.Context, name string) (string, error) {
	creator := s.people[len(s.people)-1]
	category := communities.Category{ID: region.NewID(home), Name: name, Metadata: []byte("{}")}
	c := communities.Community{
		ID: region.NewID(home), DisplayName: name, CreatorID: creator.id, CreatorPublicID: creator.public,
		Description: "Made to be measured", IsPublic: true, IsDiscoverable: true, StoryComments: true, NotificationMode: "default",
		Type: "default", Tags: []string{"bench"}, Metadata: []byte(`{"colour": "green"}`), CategoryIDs: []string{category.ID},
	}
	now := s.tick()
	changes := make([]communities.MemberChange, len(s.people))
	for i, p := range s.people {
		roles := []string{auth.RoleCommunityMember, auth.RoleChannelMember}
		if p.id == creator.id {
			roles = []string{auth.RoleCommunityModerator, auth.RoleChannelModerator}
		}
		changes[i] = communities.MemberChange{New: communities.Member{
			CommunityID: c.ID, UserID: p.id, UserPublicID: p.public, State: communities.StateMember, Roles: roles, JoinedAt: now, CreatedAt: now,
			UpdatedAt: now,
		}}
	}
	// Categories are inserted in a separate transaction, because the store retries it after a lost connection.
	w := s.store.NewTx(home)
	w.InsertCategory(category, now)
	if err := w.Commit(ctx); err != nil {
		return "", err
	}
	w = s.store.NewTx(home)
	w.InsertCommunity(c, nil, now)
	w.ChangeMembers(c.ID, changes, now, now)
	return c.ID, w.Commit(ctx)
}

// addPosts adds posts with comments by several authors and returns their ids.
func (s *seeder) addPosts(ctx context.Context, communityID string, posts, comments int) (postIDs, commentIDs []string, err error) {
	commentIDs = make([]string, posts*comments)
	for i := range posts {
		w := s.store.NewTx(home)
		p := s.newPost(communityID, s.people[2+i%s.authors])
		w.InsertPost(p)
		w.Count(communityID, core.CountPublished, +1)
		for j := range comments {
			c := s.newComment(p, s.people[2+(i+j+1)%s.authors], int64(j+1))
			w.InsertComment(c)
			commentIDs[j*posts+i] = c.ID
		}
		for j := range s.reactions {
			s.react(w, p.ID, s.people[(i+j)%s.authors], []string{"like", "love"}[j%2])
		}
		if err := w.Commit(ctx); err != nil {
			return nil, nil, err
		}
		postIDs = append(postIDs, p.ID)
	}
	return postIDs, commentIDs, nil
}

func (s *seeder) newPost(communityID string, author person) content.Post {
	now := s.tick()
	return content.Post{
		ID: region.NewID(home), TargetType: "community", TargetID: communityID, TargetPublicID: communityID,
		AuthorID: author.id, AuthorPublicID: author.public, IsParent: true, FeedType: "published", DataType: "text", StructureType: "text",
		Data:     []byte(`{"title": "Low tide at seven", "text": "` + strings.Repeat("We saw two herons and a seal. ", 7) + `"}`),
		Metadata: []byte("{}"), Mentionees: []byte("[]"), Tags: []string{"walk", "morning"}, CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
}

func (s *seeder) newComment(p content.Post, author person, segment int64) content.Comment {
	now := s.tick()
	id := region.NewID(home)
	return content.Comment{
		ID: id, ReferenceType: "post", ReferenceID: p.ID, TargetType: "community", TargetID: p.TargetID, TargetPublicID: p.TargetPublicID,
		RootID: id, AuthorID: author.id, AuthorPublicID: author.public, DataTypes: []string{"text"}, Segment: segment,
		Data: []byte(`{"text": "Which path did you take down to the water?"}`), Metadata: []byte("{}"), Mentionees: []byte("[]"),
		Attachments: []byte("[]"), ApprovalStatus: "approved", CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
}

func (s *seeder) react(w *store.Tx, postID string, by person, name string) {
	w.InsertReaction(content.Reaction{
		ReferenceType: "post", ReferenceID: postID, UserID: by.id, UserPublicID: by.public, Name: name, ID: region.NewID(home),
		CreatedAt: s.tick(),
	}, nil)
}
