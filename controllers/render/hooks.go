package render

import "github.com/plaza-social/plaza/api/v1alpha1"

// HookKey is the key of the Secrets with the secrets of webhooks and the pre-hook.
const HookKey = "secret"

// HookSecrets returns the names of the Secrets of the webhooks and the pre-hook. The operator reads them, not the pods.
func HookSecrets(spec *v1alpha1.SocialNetworkSpec) []string {
	var names []string
	for _, hook := range spec.Webhooks {
		names = append(names, hook.SecretRef.Name)
	}
	if spec.PreHook != nil {
		names = append(names, spec.PreHook.SecretRef.Name)
	}
	return names
}
