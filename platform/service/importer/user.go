package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// users are the accounts. Their ids are the public ids.
var users = kind{
	name: "user", hasRegion: true, hasUpdate: true, fields: []string{"displayName", "description", "avatarCustomUrl", "metadata"},
	parse: (*Importer).parseUser, check: (*Importer).checkUsers, write: (*Importer).writeUsers,
}

// parseUser checks the id as the first session does, and the profile as an update does.
func (i *Importer) parseUser(r *row) error {
	if region.ValidID(r.userID) {
		return errors.New("userId: must not have the form of an internal id")
	}
	first, err := json.Marshal(map[string]string{"userId": r.userID, "deviceId": "import"})
	if err != nil {
		return err
	}
	if err := i.Decode(first, &plazav1.CreateSessionRequest{}); err != nil {
		return err
	}
	if err := directory.CheckName("userId", r.userID); err != nil {
		return err
	}
	return r.decode(i, &plazav1.UpdateUserRequest{})
}

// checkUsers finds the users that exist.
func (i *Importer) checkUsers(ctx context.Context, rows []*row) error {
	found, err := i.findUsers(ctx, service.Map(rows, func(r *row) string { return r.userID }))
	for _, r := range rows {
		r.internal = found[r.userID].ID
		r.present = r.internal != ""
	}
	return err
}

// writeUsers claims the ids of new users and inserts their rows. Only the claims of an interrupted import may exist.
func (i *Importer) writeUsers(ctx context.Context, rows []*row) error {
	newIDs := map[string]string{}
	for _, r := range rows {
		if !r.present {
			newIDs[r.userID] = i.NewID(r.home)
		}
	}
	claimed, err := i.Directory.ClaimAll(ctx, newIDs)
	if err != nil {
		return err
	}
	txs := i.newTxs()
	for _, r := range rows {
		if r.present {
			continue
		}
		r.internal = claimed[r.userID]
		tx, err := txs.at(r.internal)
		if err != nil {
			return err
		}
		r.insertUser(tx)
	}
	return txs.commit(ctx)
}

// insertUser inserts a user as the first session does, and the rest of the profile as an update does.
func (r *row) insertUser(tx *store.Tx) {
	m, _ := r.request.(*plazav1.UpdateUserRequest)
	tx.InsertUser(store.User{ID: r.internal, PublicID: r.userID, DisplayName: cmp.Or(m.GetDisplayName(), r.userID)}, r.createdAt)
	change := store.UserChange{Description: m.Description, AvatarCustomURL: m.AvatarCustomUrl}
	if m.GetMetadata() != nil {
		change.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	var stored *store.User
	tx.UpdateUser(r.internal, change, r.updatedAt, &stored)
}
