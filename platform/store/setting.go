package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Settings are the settings of the network as one home has them. The zero value is what holds before anybody changed
// them; DefaultSettings spells it out.
type Settings struct {
	IsWhitelistEnabled  bool `json:"isWhitelistEnabled"`
	IsReportEnabled     bool `json:"isReportEnabled"`
	FlagLimit           int  `json:"flagLimit"`
	IsSecureModeEnabled bool `json:"isSecureModeEnabled"`
	MaxGlobalPinnedPost int  `json:"maxGlobalPinnedPost"`
	// Generation is what the settings were last pushed with by whoever manages them.
	Generation int `json:"generation"`

	// UserPrivacySetting is PrivacyPublic or PrivacyPrivate.
	UserPrivacySetting         string `json:"userPrivacySetting"`
	IsFollowWithRequestEnabled bool   `json:"isFollowWithRequestEnabled"`

	// What the global feed shows.
	ShowOnlyMyFeed    bool `json:"showOnlyMyFeed"`
	ShowMyPost        bool `json:"showMyPost"`
	ShowEveryonePost  bool `json:"showEveryonePost"`
	ShowCommunityPost bool `json:"showCommunityPost"`
	ShowFollowingPost bool `json:"showFollowingPost"`

	// StoryExpiryTimeMinutes is how long a story lasts.
	StoryExpiryTimeMinutes    int  `json:"storyExpiryTimeMinutes"`
	AllowAllUserToCreateStory bool `json:"allowAllUserToCreateStory"`

	// What channels and messages let happen, see ChatSettings of the interface.
	IsAllowMentionedChannelEnabled         bool `json:"isAllowMentionedChannelEnabled"`
	MessagePreviewEnabled                  bool `json:"messagePreviewEnabled"`
	MessagePreviewIncludesDeleted          bool `json:"messagePreviewIncludesDeleted"`
	AllowMemberToUpdateConversationChannel bool `json:"allowMemberToUpdateConversationChannel"`

	// MembershipAcceptance is AcceptAutomatic or AcceptInvitation.
	MembershipAcceptance string `json:"membershipAcceptance"`

	// IsAllowEditPostWhenReviewingEnabled lets authors edit posts that wait for a moderator.
	IsAllowEditPostWhenReviewingEnabled bool `json:"isAllowEditPostWhenReviewingEnabled"`
}

// Who may read walls: everybody, or those whom their owners accept as followers.
const (
	PrivacyPublic  = "public"
	PrivacyPrivate = "private"
)

// What AddMembers does of whom it names: members at once, or users who are invited.
const (
	AcceptAutomatic  = "automatic"
	AcceptInvitation = "invitation"
)

// StoryLife is how long a story lasts, MaxStoryLife at most.
func (s Settings) StoryLife() time.Duration {
	return min(time.Duration(s.StoryExpiryTimeMinutes)*time.Minute, MaxStoryLife)
}

// IsPrivate reports whether walls are for accepted followers.
func (s Settings) IsPrivate() bool { return s.UserPrivacySetting == PrivacyPrivate }

// FollowNeedsRequest reports whether a follow has to be accepted.
func (s Settings) FollowNeedsRequest() bool { return s.IsPrivate() || s.IsFollowWithRequestEnabled }

// DefaultSettings are the settings of a new network.
func DefaultSettings() Settings {
	return Settings{
		IsReportEnabled: true, FlagLimit: 100, MaxGlobalPinnedPost: 1, UserPrivacySetting: PrivacyPublic,
		ShowMyPost: true, ShowCommunityPost: true, ShowFollowingPost: true, StoryExpiryTimeMinutes: 1440,
		MessagePreviewEnabled: true,
		MembershipAcceptance:  AcceptAutomatic,
	}
}

// SettingRow is one setting: the newest change wins, and of two at the same moment the one of the greater origin.
type SettingRow struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
	ChangedAt time.Time       `json:"changedAt"`
	Origin    string          `json:"origin"`
}

var (
	sqlSettings   = stmt("settings.read", `SELECT name, value FROM settings WHERE home = $1 ORDER BY name`)
	sqlSettingPut = stmt("settings.put", `INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, $2, $3::jsonb, $4, $5)
		ON CONFLICT (home, name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (settings.changed_at, settings.origin) <= (excluded.changed_at, excluded.origin)`)
)

// Settings reads the settings as home has them.
func (r *ReadBatch) Settings(home region.Code, into *Settings) {
	r.add(home, sqlSettings, scanSettings(into))
}

// SelectSettings reads the settings as they stand once the statements before it have run.
func (w *Tx) SelectSettings(into *Settings) { w.query(sqlSettings, scanSettings(into)) }

func scanSettings(into *Settings) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		values := map[string]json.RawMessage{}
		for rows.Next() {
			var name string
			var value []byte
			if err := rows.Scan(&name, &value); err != nil {
				return err
			}
			values[name] = append(json.RawMessage(nil), value...)
		}
		*into = DefaultSettings()
		raw, err := json.Marshal(values)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, into)
	}
}

// UpsertSetting stores a change of a setting, unless a newer one is there.
func (w *Tx) UpsertSetting(s SettingRow) {
	w.exec(sqlSettingPut, s.Name, []byte(s.Value), s.ChangedAt, s.Origin)
}
