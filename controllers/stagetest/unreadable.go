package stagetest

import (
	"context"
	"errors"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Unreadable is a cache that fails to read the objects whose names begin with Prefix.
type Unreadable struct {
	client.Client

	Prefix string
}

// Get returns the error "the cache is gone" for these objects.
func (u Unreadable) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if strings.HasPrefix(key.Name, u.Prefix) {
		return errors.New("the cache is gone")
	}
	return u.Client.Get(ctx, key, object, options...)
}
