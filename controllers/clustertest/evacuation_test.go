//go:build cluster

package clustertest

import (
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// schedule schedules a post in the community of a region's user, and returns its id. It becomes due with makeDue.
func (s *suite) schedule(t *testing.T, code string) string {
	t.Helper()
	p := s.people[code]
	body := object{
		"scheduledAt": time.Now().UTC().Add(time.Hour).Format(time.RFC3339Nano),
		"postData":    object{"targetType": "community", "targetId": p.community, "data": object{"text": "later"}},
	}
	_, err := p.do(fresh, http.MethodPost, p.base, "/api/v1/posts/schedule", body)
	require.NoError(t, err)
	list, err := p.do(fresh, http.MethodGet, p.base, "/api/v1/posts/schedule", nil)
	require.NoError(t, err)
	waiting, _ := list["data"].([]any)
	require.Len(t, waiting, 1)
	item, _ := waiting[0].(object)
	data, _ := item["postData"].(object)
	id, _ := data["postId"].(string)
	require.NotEmpty(t, id)
	return id
}

// makeDue makes every scheduled post due.
func (s *suite) makeDue(t *testing.T) {
	t.Helper()
	db, err := s.connect(t.Context(), string(get(t, s, &corev1.Secret{}, "acme-db").Data["url"]))
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "UPDATE scheduled_posts SET scheduled_at = now(), due_at = now()")
	require.NoError(t, err)
	require.NoError(t, db.Close(t.Context()))
}

// evacuate follows the runbook to evacuate a region that is cut off. Its user then writes at the region's own address again, signs in
// there with the region's server key, and finds the post that was scheduled before.
func (s *suite) evacuate(t *testing.T, code, to, scheduled string) {
	t.Helper()
	s.follow(t, "evacuate", code, to)
	status, reason, message := condition(s.network(t), v1alpha1.ConditionReady)
	require.Equal(t, "True "+string(v1alpha1.ReasonEvacuated), status+" "+reason, message)
	s.resume(t, code)
	p := s.signIn(t, s.people[code].id, code)
	s.makeDue(t)
	s.within(t, "the post that was scheduled in "+code+" is published", func() string {
		if err := p.read("/api/v3/posts/" + scheduled); err != nil {
			return err.Error()
		}
		return ""
	})
	s.moreWrites(t)
	s.nothingFailed(t)
}

// leadBack follows the runbook to end the evacuation, while users write in all regions. The region's own user waits until the region
// is available: right after its node was connected, this still routes to the pods that it knew before.
func (s *suite) leadBack(t *testing.T, code string) {
	t.Helper()
	s.within(t, code+" is available", func() string {
		for _, region := range s.network(t).Status.Regions {
			if string(region.Code) == code && meta.IsStatusConditionTrue(region.Conditions, v1alpha1.RegionAvailable) {
				return ""
			}
		}
		return "it is not"
	})
	s.resume(t, code)
	s.follow(t, "return", code, "")
	s.ready(t)
	_, reason, message := condition(s.network(t), v1alpha1.ConditionReady)
	require.NotEqual(t, string(v1alpha1.ReasonEvacuated), reason, message)
	s.moreWrites(t)
	s.nothingFailed(t)
}

// follow runs commands of EVACUATION.md.
func (s *suite) follow(t *testing.T, part, code, to string) {
	t.Helper()
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", testenv.Commands(t, "EVACUATION.md", part))
	cmd.Env = append(os.Environ(), "NAMESPACE="+s.namespace, "NETWORK="+network, "REGION="+code, "TO="+to)
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	s.sayf("    %s was evacuated or led back (%s) after %.1f s:\n%s", code, part, time.Since(began).Seconds(), printed)
}
