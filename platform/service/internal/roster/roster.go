// Package roster decides how moderators change the members of a community or the users of a channel. The two have
// rows of different types, but the same rules.
package roster

import (
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Change is store.MemberChange or store.ChannelUserChange.
type Change[E any] interface {
	~struct {
		Old *E
		New E
	}
}

// Rules are the rules of one community or channel. An entry is a row of a user who is or was a member or banned. It
// is nil for other users.
type Rules[E any, C Change[E]] struct {
	UserID             func(E) string
	IsMember, IsBanned func(*E) bool
	ErrBanned          error // for adding a banned user
	Join, Ban          func(u people.User, entry *E) C
	Remove             func(E) C // ends a membership or a ban
}

// Roster is the part of the members of a community or channel that a request names.
type Roster[E any, C Change[E]] struct {
	Rules    Rules[E, C]
	CallerID string
	UserIDs  []string      // internal ids, without repetitions
	Entries  []E           // their entries
	Users    []people.User // their rows, which Add and Ban need
}

// Entry returns the entry of a user, or nil.
func (r *Roster[E, C]) Entry(userID string) *E {
	return service.Find(r.Entries, func(e E) bool { return r.Rules.UserID(e) == userID })
}

// RequireAuthority returns an error unless the caller of a request has authority over all of the users but themselves. in returns the
// authority of a user in the community or channel, and mine is the entry of the caller.
func (r *Roster[E, C]) RequireAuthority(q *service.Request, mine *E, in func(userID string, entry *E) auth.Authority) error {
	actor := q.Caller.Authority(in(r.CallerID, mine))
	for _, u := range r.Users {
		target := q.Deps.View.Catalog.AuthorityOf(u.Roles, in(u.ID, r.Entry(u.ID)))
		if err := actor.RequireOver(target); err != nil && u.ID != r.CallerID {
			return err
		}
	}
	return nil
}

// Add returns the changes that make the users members. Members stay as they are. An unknown or deleted user is
// 400400, and a banned one an error, too.
func (r *Roster[E, C]) Add() ([]C, error) {
	var changes []C
	for _, id := range r.UserIDs {
		u, entry := service.UserByID(r.Users, id), r.Entry(id)
		switch {
		case u == nil || u.DeletedAt != nil:
			return nil, fail.NotFound()
		case r.Rules.IsBanned(entry):
			return nil, r.Rules.ErrBanned
		}
		changes = append(changes, r.Rules.Join(*u, entry))
	}
	return changes, nil
}

// Remove returns the changes that end the memberships of the users. Users who are not members stay as they are.
func (r *Roster[E, C]) Remove() []C { return r.remove(r.Rules.IsMember) }

// Unban returns the changes that end the bans of the users. Users who are not banned stay as they are.
func (r *Roster[E, C]) Unban() []C { return r.remove(r.Rules.IsBanned) }

func (r *Roster[E, C]) remove(applies func(*E) bool) []C {
	var changes []C
	for i := range r.Entries {
		entry := &r.Entries[i]
		if applies(entry) {
			changes = append(changes, r.Rules.Remove(*entry))
		} else {
			changes = append(changes, C(struct {
				Old *E
				New E
			}{entry, *entry}))
		}
	}
	return changes
}

var errBanSelf = fail.Forbidden("You cannot ban yourself")

// Ban returns the changes that ban the users, members or not. An unknown user is 400400.
func (r *Roster[E, C]) Ban() ([]C, error) {
	if slices.Contains(r.UserIDs, r.CallerID) {
		return nil, errBanSelf
	}
	var changes []C
	for _, id := range r.UserIDs {
		u, entry := service.UserByID(r.Users, id), r.Entry(id)
		if u == nil && entry == nil {
			return nil, fail.NotFound()
		}
		if u == nil {
			u = &people.User{ID: id}
		}
		changes = append(changes, r.Rules.Ban(*u, entry))
	}
	return changes, nil
}

// Edit returns the changes that edit makes to the entries of the users, all of whom must be members.
func (r *Roster[E, C]) Edit(edit func(E) C) ([]C, error) {
	var changes []C
	for _, id := range r.UserIDs {
		entry := r.Entry(id)
		if !r.Rules.IsMember(entry) {
			return nil, fail.NotFound()
		}
		changes = append(changes, edit(*entry))
	}
	return changes, nil
}

// WithRoles returns roles and those of added that are not among them.
func WithRoles(roles, added []string) []string {
	return service.Distinct(slices.Concat(roles, added))
}

// WithoutRoles returns roles without those of removed.
func WithoutRoles(roles, removed []string) []string {
	return slices.DeleteFunc(slices.Clone(roles), func(role string) bool { return slices.Contains(removed, role) })
}
