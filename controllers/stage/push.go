package stage

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
)

// Settings that reach all regions within a second are pushed to servers.
const (
	// pushTimeout is how long a region may take to accept settings.
	pushTimeout = 5 * time.Second
	// ReadBackDelay is when the servers are read after the first push.
	ReadBackDelay = time.Second
	// PushInterval is how often settings are pushed again to regions that still differ.
	PushInterval = 5 * time.Second
)

// Push calls push for each region concurrently, with an administrator's token, and returns the errors in the order of the regions.
// The last result is an error if the network has no token yet.
func (p *Pass) Push(
	ctx context.Context, codes []v1alpha1.RegionCode, push func(context.Context, v1alpha1.RegionCode, keyring.Secret) error,
) ([]error, error) {
	token, err := p.adminToken(ctx)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(codes))
	var group errgroup.Group
	for i, code := range codes {
		group.Go(func() error {
			pushCtx, cancel := context.WithTimeout(ctx, pushTimeout)
			defer cancel()
			errs[i] = push(pushCtx, code, token)
			return nil
		})
	}
	_ = group.Wait() // errs holds the errors
	return errs, nil
}

// adminToken returns an administrator's token, signed with the network's own keys.
func (p *Pass) adminToken(ctx context.Context) (keyring.Secret, error) {
	name := render.SigningKeysSecret(p.SN.Name)
	var secret corev1.Secret
	if err := p.Own().Cache.Get(ctx, client.ObjectKey{Namespace: p.SN.Namespace, Name: name}, &secret); err != nil {
		return keyring.Secret{}, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return platformclient.AdminToken(keyring.NewSecret(string(secret.Data[keyring.SigningKeysFile])), p.Network.NetworkID, p.Now)
}
