package network

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Settings are the network's settings as stored in one home. Unset settings have the values of DefaultSettings.
type Settings struct {
	IsWhitelistEnabled  bool `json:"isWhitelistEnabled"`
	IsReportEnabled     bool `json:"isReportEnabled"`
	FlagLimit           int  `json:"flagLimit"`
	FlagHideLimit       int  `json:"flagHideLimit"` // flags that hide a post, comment or story; 0 for none
	IsSecureModeEnabled bool `json:"isSecureModeEnabled"`
	MaxGlobalPinnedPost int  `json:"maxGlobalPinnedPost"`
	// Generation is the generation of the last push by the operator.
	Generation int `json:"generation"`

	// RateLimit is the rate limit of users, such as 100/5s; empty for that of the servers' configuration.
	RateLimit string `json:"rateLimit"`

	// DefaultAccessType is the access type of uploads that do not set one.
	DefaultAccessType string `json:"defaultAccessType"`
	// The retention in days; 0 means for ever.
	RetentionMessageDays int `json:"retentionMessageDays"`
	RetentionDeletedDays int `json:"retentionDeletedDays"`
	RetentionSessionDays int `json:"retentionSessionDays"`
	RetentionEventDays   int `json:"retentionEventDays"`
	RetentionAuditDays   int `json:"retentionAuditDays"`

	// UserPrivacySetting is PrivacyPublic or PrivacyPrivate.
	UserPrivacySetting         string `json:"userPrivacySetting"`
	IsFollowWithRequestEnabled bool   `json:"isFollowWithRequestEnabled"`

	// The content of the global feed.
	ShowOnlyMyFeed    bool `json:"showOnlyMyFeed"`
	ShowMyPost        bool `json:"showMyPost"`
	ShowEveryonePost  bool `json:"showEveryonePost"`
	ShowCommunityPost bool `json:"showCommunityPost"`
	ShowFollowingPost bool `json:"showFollowingPost"`

	// StoryExpiryTimeMinutes is the lifetime of a story.
	StoryExpiryTimeMinutes    int  `json:"storyExpiryTimeMinutes"`
	AllowAllUserToCreateStory bool `json:"allowAllUserToCreateStory"`

	// Settings of channels and messages, see ChatSettings in the API.
	IsAllowMentionedChannelEnabled         bool `json:"isAllowMentionedChannelEnabled"`
	MessagePreviewEnabled                  bool `json:"messagePreviewEnabled"`
	MessagePreviewIncludesDeleted          bool `json:"messagePreviewIncludesDeleted"`
	AllowMemberToUpdateConversationChannel bool `json:"allowMemberToUpdateConversationChannel"`

	// MembershipAcceptance is AcceptAutomatic or AcceptInvitation.
	MembershipAcceptance string `json:"membershipAcceptance"`

	// PresenceHeartbeatMinutes is the interval of heartbeats, and PresenceChangedAt when it was changed; zero if it never was.
	PresenceHeartbeatMinutes int       `json:"presenceHeartbeatMinutes"`
	PresenceChangedAt        time.Time `json:"-"`

	// Videos are the rules of videos by their use: post, message or story.
	Videos map[string]VideoRules `json:"-"`
	// IsProductEnabled makes clients offer to tag products.
	IsProductEnabled bool `json:"isProductEnabled"`
	// DeepLinkDomain and DeepLinkPatterns are the links with which apps share objects.
	DeepLinkDomain   string            `json:"deepLinkDomain"`
	DeepLinkPatterns map[string]string `json:"deepLinkPatterns"`

	// IsWebhookEnabled sends events to the webhooks.
	IsWebhookEnabled bool `json:"isWebhookEnabled"`
	// Prehook are the settings of the pre-hook.
	Prehook PrehookSettings `json:"prehook"`

	// IsAllowEditPostWhenReviewingEnabled allows authors to edit posts that are being reviewed.
	IsAllowEditPostWhenReviewingEnabled bool `json:"isAllowEditPostWhenReviewingEnabled"`

	// IsAllowUpdateDisplayName allows users to change their own display names.
	IsAllowUpdateDisplayName bool `json:"isAllowUpdateDisplayName"`

	// PostMinScore and CommunityMinScore are the smallest scores of results of semantic search.
	PostMinScore      float64 `json:"postMinScore"`
	CommunityMinScore float64 `json:"communityMinScore"`

	// IsVideoStreamingEnabled allows users to create streams and rooms.
	IsVideoStreamingEnabled bool `json:"isVideoStreamingEnabled"`
	// StreamModeration determines what findings of moderation do.
	StreamModeration StreamModeration `json:"streamModeration"`
}

// StreamModeration determines what findings do that the media server reports as flagged.
type StreamModeration struct {
	Enabled    bool                       `json:"enabled"`
	Categories []StreamModerationCategory `json:"categories"`
}

// StreamModerationCategory contains the thresholds of a category: findings below FlagThreshold are dropped, and those of
// at least TerminateThreshold, unless it is 0, end the stream or room.
type StreamModerationCategory struct {
	Category           string  `json:"category"`
	FlagThreshold      float64 `json:"flagThreshold"`
	TerminateThreshold float64 `json:"terminateThreshold"`
}

// PrehookSettings are the settings of the pre-hook.
type PrehookSettings struct {
	IsEnabled     bool     `json:"isEnabled"`
	URL           string   `json:"url"`
	DefaultAction string   `json:"defaultAction"` // allow or deny
	Events        []string `json:"events"`        // names of the events before which it is asked; empty for all
	TimeoutMS     int      `json:"timeoutMs"`
	Secret        []byte   `json:"secret"`    // encrypted
	IsManaged     bool     `json:"isManaged"` // by the operator
}

// The visibility of walls: to all users, or to accepted followers.
const (
	PrivacyPublic  = "public"
	PrivacyPrivate = "private"
)

// Whether AddMembers adds users as members or invites them.
const (
	AcceptAutomatic  = "automatic"
	AcceptInvitation = "invitation"
)

// StoryLifetime returns the lifetime of a story, at most MaxStoryLifetime.
func (s Settings) StoryLifetime() time.Duration {
	return min(time.Duration(s.StoryExpiryTimeMinutes)*time.Minute, content.MaxStoryLifetime)
}

// PresenceDuration returns how long a user is present after a heartbeat.
func (s Settings) PresenceDuration() time.Duration {
	return time.Duration(s.PresenceHeartbeatMinutes) * 90 * time.Second
}

// IsPrivate reports whether walls are visible to accepted followers only.
func (s Settings) IsPrivate() bool { return s.UserPrivacySetting == PrivacyPrivate }

// FollowNeedsRequest reports whether a follow must be accepted.
func (s Settings) FollowNeedsRequest() bool { return s.IsPrivate() || s.IsFollowWithRequestEnabled }

// DefaultSettings returns the settings of a new network.
func DefaultSettings() Settings {
	return Settings{
		IsReportEnabled: true, FlagLimit: 100, IsSecureModeEnabled: true, MaxGlobalPinnedPost: 1, UserPrivacySetting: PrivacyPublic,
		ShowMyPost: true, ShowCommunityPost: true, ShowFollowingPost: true, StoryExpiryTimeMinutes: 1440,
		MessagePreviewEnabled: true,
		RetentionEventDays:    1,

		PresenceHeartbeatMinutes: 1,
		MembershipAcceptance:     AcceptAutomatic,
		DefaultAccessType:        media.AccessPublic,
		Videos:                   defaultVideoRules(),
		IsWebhookEnabled:         true,
		IsAllowUpdateDisplayName: true,
		IsVideoStreamingEnabled:  true,
		Prehook:                  PrehookSettings{DefaultAction: "allow", TimeoutMS: 3000},
	}
}

// SettingRow is one setting. The newest change wins; of two changes at the same time, the one with the greater origin.
type SettingRow struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
	ChangedAt time.Time       `json:"changedAt"`
	Origin    string          `json:"origin"`
}

var (
	sqlSettings      = db.Register("settings.read", `SELECT name, value, changed_at FROM settings WHERE home = $1 ORDER BY name`)
	sqlSettingUpsert = db.Register("settings.put", `INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, $2, $3::jsonb, $4, $5)
		ON CONFLICT (home, name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, origin = excluded.origin
		WHERE (settings.changed_at, settings.origin) <= (excluded.changed_at, excluded.origin)`)

	sqlSettingInsert = db.Register("settings.putFirst", `INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, $2, $3::jsonb, $4,
		$5)
		ON CONFLICT (home, name) DO NOTHING`)
)

// Settings reads the settings as stored in a home.
func (r ReadBatch) Settings(home region.Code, into *Settings) {
	r.Add(home, sqlSettings, scanSettings(into))
}

// SelectSettings reads the settings after the preceding statements.
func (w Tx) SelectSettings(into *Settings) { w.Query(sqlSettings, scanSettings(into)) }

func scanSettings(into *Settings) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		values, presenceChanged := map[string]json.RawMessage{}, time.Time{}
		for rows.Next() {
			var name string
			var value []byte
			var changed time.Time
			if err := rows.Scan(&name, &value, &changed); err != nil {
				return err
			}
			if name == "presenceHeartbeatMinutes" {
				presenceChanged = changed
			}
			values[name] = append(json.RawMessage(nil), value...)
		}
		*into = DefaultSettings()
		into.PresenceChangedAt = presenceChanged
		raw, err := json.Marshal(values)
		if err != nil {
			return err
		}
		return errors.Join(json.Unmarshal(raw, into), setVideos(into.Videos, values))
	}
}

// UpsertSetting stores a changed setting unless the stored one is newer.
func (w Tx) UpsertSetting(s SettingRow) {
	w.Exec(sqlSettingUpsert, s.Name, []byte(s.Value), s.ChangedAt, s.Origin)
}

// InsertSetting stores a setting unless the home has one of the name.
func (w Tx) InsertSetting(s SettingRow) {
	w.Exec(sqlSettingInsert, s.Name, []byte(s.Value), s.ChangedAt, s.Origin)
}
