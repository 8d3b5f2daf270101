package keys

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
)

// verification holds the answers of a region's ready servers to the question whether they accept a key.
type verification struct {
	id      string
	answers []answer
}

// answer is the answer of one server; a nil err means that it accepts the key.
type answer struct {
	pod string
	err error
}

// verify asks every ready server of a region whether it accepts a key.
func (r *run) verify(ctx context.Context, code v1alpha1.RegionCode, key keyring.Entry) verification {
	v := r.unverified(code, key.ID)
	var group errgroup.Group
	group.SetLimit(platformclient.MaxConcurrentRequests)
	for i, report := range r.pass.Reports[code] {
		if report.Err != nil {
			v.answers[i].err = report.Err // it did not answer the status request either
			continue
		}
		group.Go(func() error {
			requestCtx, cancel := context.WithTimeout(ctx, platformclient.RequestTimeout)
			defer cancel()
			v.answers[i].err = r.pass.ClusterOf(code).Servers.VerifyServerKey(requestCtx, report.Server, key.ID, key.Key)
			return nil
		})
	}
	_ = group.Wait() // each answer holds its own error
	return v
}

// unverified returns the verification of a key that the servers were not asked about, such as one created in this pass.
func (r *run) unverified(code v1alpha1.RegionCode, id string) verification {
	v := verification{id: id}
	for _, report := range r.pass.Reports[code] {
		v.answers = append(v.answers, answer{pod: report.Pod, err: platformclient.ErrKeyRefused})
	}
	return v
}

// succeeded reports whether there are servers, and all of them accept the key.
func (v verification) succeeded() bool {
	for _, a := range v.answers {
		if a.err != nil {
			return false
		}
	}
	return len(v.answers) > 0
}

// failure explains why the key is not verified; refused is the reason to use if all servers answered.
func (v verification) failure(refused v1alpha1.Reason) (v1alpha1.Reason, string) {
	if len(v.answers) == 0 {
		return v1alpha1.ReasonNoServers, "no server of the region is ready yet."
	}
	accepted := 0
	var refusedBy string
	var unreachable *answer
	for _, a := range v.answers {
		switch {
		case a.err == nil:
			accepted++
		case !errors.Is(a.err, platformclient.ErrKeyRefused):
			if unreachable == nil {
				unreachable = &a
			}
		case refusedBy == "":
			refusedBy = a.pod
		}
	}
	count := fmt.Sprintf("accepted by %d of %s", accepted, serverCount(len(v.answers)))
	if unreachable != nil {
		return v1alpha1.ReasonServersSilent, fmt.Sprintf("%s; pod %s: %s.", count, unreachable.pod, unreachable.err)
	}
	return refused, fmt.Sprintf("%s, not by pod %s yet.", count, refusedBy)
}

func serverCount(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}
