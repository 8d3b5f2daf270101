//go:build faults

package faults

import (
	"net/http"
	"time"

	"github.com/plaza-social/plaza/platform/apptest"
)

// latest returns one of the latest elements of a list that grows concurrently; empty if there is none.
func (h *worker) latest(of *[]string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(*of) == 0 {
		return ""
	}
	return (*of)[max(0, len(*of)-1-h.rand.IntN(5))]
}

func (h *worker) record(in *[]string, ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*in = append(*in, ids...)
}

// writeStory creates a story, which only managers of stories may do, and sometimes deletes one or clears its flags.
func (h *worker) writeStory(_ string, _ [2]string, community string) {
	if answer := h.do(h.me, http.MethodPost, "/api/v4/stories", apptest.TextStory(community)); answer.Status == http.StatusOK {
		h.record(&h.stories, answer.Strings(h.t, "stories", "storyId"))
	}
	switch h.rand.IntN(4) {
	case 0:
		h.do(h.randomModerator(), http.MethodDelete, "/api/v4/stories/"+h.latest(&h.stories)+h.permanent(), nil)
	case 1:
		h.do(h.admin, http.MethodDelete, "/api/v4/stories/"+h.latest(&h.stories)+"/flags/all", nil)
	}
}

// useStory applies every operation that users may call on other users' stories.
func (h *worker) useStory(viewed string, _ [2]string, _ string) {
	id := h.latest(&h.stories)
	h.do(h.me, pick(h, []string{http.MethodPost, http.MethodPost, http.MethodDelete}), "/api/v4/stories/"+id+"/flags", nil)
	ref := object{"referenceId": id, "referenceType": "story", "reactionName": pick(h, []string{"like", "love"})}
	h.do(h.me, pick(h, []string{http.MethodPost, http.MethodPost, http.MethodDelete}), "/api/v2/reactions", ref)
	comment := object{"referenceType": "story", "referenceId": id, "data": object{"text": "well"}}
	if answer := h.do(h.me, http.MethodPost, "/api/v3/comments", comment); answer.Status == http.StatusOK {
		h.record(&h.storied, answer.Strings(h.t, "comments", "commentId"))
	}
	if old := h.latest(&h.storied); old != "" {
		h.do(h.me, http.MethodPost, "/api/v3/comments/"+old+"/flag", nil)
		if h.rand.IntN(3) == 0 {
			h.do(h.randomModerator(), http.MethodDelete, "/api/v4/comments/"+old+h.permanent(), nil)
		}
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	h.do(h.me, http.MethodPost, "/api/v1/analytics/activities", object{"activities": []object{
		{"contentId": id, "contentType": "story", "activityType": "view", "timestamp": now},
		{"contentId": viewed, "contentType": "post", "activityType": "view", "timestamp": now},
	}})
}

// storyDriftQueries are the driftQueries of stories and views.
var storyDriftQueries = map[string]string{
	"stories of a target": counted("stories",
		`SELECT home, target_id AS ref, count(*) AS n FROM stories WHERE deleted_at IS NULL AND hidden_at IS NULL GROUP BY home, target_id`,
		"communities"),
	"latest comments of a story": latest("comments", "stories", "reference_id = r.id AND parent_id = ''"),
	"comments of a story": counted("comments",
		`SELECT home, reference_id AS ref, count(*) AS n FROM comments WHERE deleted_at IS NULL AND approval_status = 'approved' GROUP BY home, reference_id`, "stories"),
	"likes of a story": counted("reaction:like", reactionsBy("like"), "stories"),
	"loves of a story": counted("reaction:love", reactionsBy("love"), "stories"),
	"impressions of a post": counted("impressions", `SELECT home, reference_id AS ref, sum(n) AS n FROM views GROUP BY home, reference_id`,
		"posts"),
	"impressions": counted("impressions", `SELECT home, reference_id AS ref, sum(n) AS n FROM views GROUP BY home, reference_id`,
		"stories"),
	"reach of a post":  counted("reach", `SELECT home, reference_id AS ref, count(*) AS n FROM views GROUP BY home, reference_id`, "posts"),
	"reach":            counted("reach", `SELECT home, reference_id AS ref, count(*) AS n FROM views GROUP BY home, reference_id`, "stories"),
	"flags of stories": flagged("stories"),
	"reactions to deleted stories": `SELECT r.reference_id FROM reactions AS r WHERE r.reference_type = 'story'
		AND NOT EXISTS (SELECT 1 FROM stories AS s WHERE s.home = r.home AND s.id = r.reference_id)`,
	"views of deleted references": `SELECT v.reference_id FROM views AS v WHERE NOT EXISTS (SELECT 1 FROM posts AS p WHERE p.home = v.home AND p.id = v.reference_id)
		AND NOT EXISTS (SELECT 1 FROM stories AS s WHERE s.home = v.home AND s.id = v.reference_id)`,
	"hasFlaggedComment of stories": `SELECT s.id FROM stories AS s WHERE s.deleted_at IS NULL AND s.has_flagged_comment <> EXISTS (
		SELECT 1 FROM comments AS c WHERE c.home = s.home AND c.reference_id = s.id AND c.flag_count > 0 AND c.deleted_at IS NULL)`,
	"targets of stories": `SELECT t.target_id, t.last_expires_at FROM story_targets AS t WHERE t.last_expires_at <> COALESCE(
		(SELECT max(expires_at) FROM stories AS s WHERE s.home = t.home AND s.target_id = t.target_id AND s.deleted_at IS NULL AND hidden_at IS NULL), '0001-01-01'::timestamptz)`,
	"targets without a row": `SELECT s.target_id FROM stories AS s WHERE NOT EXISTS (SELECT 1 FROM story_targets AS t WHERE t.home = s.home AND t.target_id = s.target_id)`,
}
