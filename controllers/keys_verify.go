package controllers

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/regional"
)

// verification is what the ready servers of a region said about a key.
type verification struct {
	id      string
	answers []answer
}

// answer is what one server said; nil is that it accepts the key.
type answer struct {
	pod string
	err error
}

// verify asks every ready server of a region whether it accepts a key.
func (k *keysPass) verify(ctx context.Context, code v1alpha1.RegionCode, key keyring.Entry) verification {
	v := k.unasked(code, key.ID)
	var group errgroup.Group
	group.SetLimit(askAtOnce)
	for i, report := range k.w.Reports[code] {
		if report.Err != nil {
			v.answers[i].err = report.Err // it did not answer a moment ago
			continue
		}
		group.Go(func() error {
			asking, cancel := context.WithTimeout(ctx, askWithin)
			defer cancel()
			v.answers[i].err = k.w.Servers.VerifyServerKey(asking, report.Ops, key.ID, key.Key)
			return nil
		})
	}
	_ = group.Wait() // each answer holds its own error
	return v
}

// unasked is the verification of a key that was made in this pass.
func (k *keysPass) unasked(code v1alpha1.RegionCode, id string) verification {
	v := verification{id: id, answers: make([]answer, len(k.w.Reports[code]))}
	for i, report := range k.w.Reports[code] {
		v.answers[i] = answer{pod: report.Pod, err: regional.ErrKeyRefused}
	}
	return v
}

// all is true when there are servers, and every one accepts the key.
func (v verification) all() bool {
	for _, a := range v.answers {
		if a.err != nil {
			return false
		}
	}
	return len(v.answers) > 0
}

// says why the key is not verified: refused is the reason where servers answered that they do not accept it.
func (v verification) says(refused v1alpha1.Reason) (v1alpha1.Reason, string) {
	if len(v.answers) == 0 {
		return v1alpha1.ReasonNoServers, "no server of the region is ready yet."
	}
	accepted := 0
	var first, silent *answer
	for i := range v.answers {
		a := &v.answers[i]
		switch {
		case a.err == nil:
			accepted++
		case !errors.Is(a.err, regional.ErrKeyRefused):
			silent = orFirst(silent, a)
		default:
			first = orFirst(first, a)
		}
	}
	of := fmt.Sprintf("accepted by %d of %s", accepted, servers(len(v.answers)))
	if silent != nil {
		return v1alpha1.ReasonServersSilent, fmt.Sprintf("%s; pod %s: %s.", of, silent.pod, silent.err)
	}
	return refused, fmt.Sprintf("%s, not by pod %s yet.", of, first.pod)
}

func orFirst(have, a *answer) *answer {
	if have != nil {
		return have
	}
	return a
}

func servers(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}

func isBroken(err error) bool {
	var broken *keyring.BrokenError
	return errors.As(err, &broken)
}
