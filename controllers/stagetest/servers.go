package stagetest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Pod is a fake platform server.
type Pod struct {
	name, ops string
	code      v1alpha1.RegionCode
	keys      keyring.File

	// StaleKeys keeps the server from reading changes of its key file.
	StaleKeys bool
	// Unreachable makes every request fail.
	Unreachable bool
	// trusted are the ids of the authorities that the server trusts: those that it read last.
	trusted []statusz.Key
	// evacuated are the regions that are evacuated to the pod's.
	evacuated *statusz.Evacuated
	// shared are the API and signing keys that the server read last.
	shared statusz.Keys
	// Moderation replaces the settings of the pod's region.
	Moderation *statusz.Moderation
	// Hooks replaces the webhooks of the pod's region.
	Hooks     *statusz.Hooks
	Placement statusz.Placement
}

// Servers are fake platform servers. They implement platformclient.Servers.
type Servers struct {
	harness *Harness

	// Pods are the ready servers.
	Pods map[v1alpha1.RegionCode][]*Pod
	// Moderation are the settings of the regions.
	Moderation map[v1alpha1.RegionCode]statusz.Moderation
	// UnreachableAPIs are the hosts of the APIs that do not answer a push.
	UnreachableAPIs map[string]bool
	// Hooks are the webhooks and the pre-hook of the regions. Refused are those that the servers refuse, and PushedHooks what was pushed
	// last.
	Hooks       map[v1alpha1.RegionCode]*statusz.Hooks
	Refused     []platformclient.Refusal
	PushedHooks platformclient.Hooks
	// PushError is the response to every push.
	PushError error
	// Schema and Image are what every server reports.
	Schema statusz.Schema
	Image  string

	mu sync.Mutex
	// Pushes are the hosts of all pushes, StatusRequests the number of status requests.
	Pushes         []string
	StatusRequests int
	// Misdirected are the pods that were called over the connection to another cluster than their own.
	Misdirected []string
}

// connection calls the servers over the connection to one cluster, which reaches those of the cluster only.
type connection struct {
	*Servers

	cluster string
}

// reach returns a server, or an error if it does not run in the cluster. The mutex must be locked.
func (s connection) reach(server platformclient.Server) (*Pod, error) {
	pod, cluster := s.at(server.Ops), ""
	if m := s.harness.memberOf(pod.code); m != nil {
		cluster = m.Name
	}
	if cluster != s.cluster {
		s.Misdirected = append(s.Misdirected, pod.name)
		return nil, errUnreachable
	}
	return pod, nil
}

var errUnreachable = &platformclient.UnreachableError{Err: errors.New("connection refused")}

// reports returns the answers of the servers, without those of clusters that cannot be used.
func (s *Servers) reports() map[v1alpha1.RegionCode][]stage.ServerReport {
	reports := map[v1alpha1.RegionCode][]stage.ServerReport{}
	for code, pods := range s.Pods {
		own := connection{s, ""}
		if m := s.harness.memberOf(code); m != nil {
			own.cluster = m.Name
			if m.Reason != "" {
				continue
			}
		}
		for _, pod := range pods {
			server := platformclient.Server{Ops: pod.ops, Control: pod.ops}
			status, err := own.Status(context.Background(), server)
			reports[code] = append(reports[code], stage.ServerReport{Pod: pod.name, Server: server, Image: s.Image, Status: status, Err: err})
		}
	}
	return reports
}

func (s *Servers) at(ops string) *Pod {
	for _, pods := range s.Pods {
		for _, pod := range pods {
			if pod.ops == ops {
				return pod
			}
		}
	}
	return nil
}

// SetLogLevel does nothing: no stage calls it.
func (s *Servers) SetLogLevel(context.Context, platformclient.Server, string) error { return nil }

// Status returns the status of a server.
func (s connection) Status(ctx context.Context, server platformclient.Server) (statusz.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.StatusRequests++
	pod, err := s.reach(server)
	if err != nil || pod.Unreachable {
		return statusz.Status{}, errUnreachable
	}
	moderation := s.Moderation[pod.code]
	if pod.Moderation != nil {
		moderation = *pod.Moderation
	}
	moderation.Digest = moderation.Hash()
	status := statusz.Status{
		Region: string(pod.code), NetworkID: "n", Schema: s.Schema, Moderation: moderation, Placement: pod.Placement,
		Hooks: s.Hooks[pod.code],
	}
	if pod.Hooks != nil {
		status.Hooks = pod.Hooks
	}
	if !pod.StaleKeys {
		pod.shared = statusz.Keys{
			API:     s.keysOf(ctx, pod.code, render.APIKeysSecret(s.harness.SN.Name), keyring.APIKeysFile),
			Signing: s.keysOf(ctx, pod.code, render.SigningKeysSecret(s.harness.SN.Name), keyring.SigningKeysFile),
		}
	}
	status.Keys = pod.shared
	s.loadAuthorities(ctx, pod)
	status.Control = &statusz.Control{Authorities: pod.trusted}
	s.loadEvacuated(ctx, pod)
	status.Evacuated = pod.evacuated
	return status, nil
}

// Readiness returns that a server is ready.
func (s *Servers) Readiness(context.Context, string) (statusz.Readiness, error) {
	return statusz.Readiness{Ready: true}, nil
}

// VerifyServerKey accepts the valid keys of the server's key file.
func (s connection) VerifyServerKey(ctx context.Context, server platformclient.Server, id string, key keyring.Secret) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod, err := s.reach(server)
	if err != nil || pod.Unreachable {
		return errUnreachable
	}
	if !pod.StaleKeys {
		s.loadKeys(ctx, pod)
	}
	entry, found := pod.keys.Find(id)
	if !found || !entry.Key.Equal(key) || !entry.ValidAt(s.harness.Now) {
		return platformclient.ErrKeyRefused
	}
	return nil
}

// loadKeys reads the Secret that the pod mounts.
func (s *Servers) loadKeys(ctx context.Context, pod *Pod) {
	name := render.ServerKeysSource(render.Network{SN: s.harness.SN}, pod.code)
	file, err := keyring.ParseFile(keyring.NewSecret(string(s.files(ctx, pod.code, name)[keyring.ServerKeysFile])))
	if err == nil && len(file) > 0 {
		pod.keys = file
	}
}

// files returns the files of a Secret in the cluster of a region; nil if it does not exist.
func (s *Servers) files(ctx context.Context, code v1alpha1.RegionCode, name string) map[string][]byte {
	var secret corev1.Secret
	if s.harness.apiOf(code).Get(ctx, client.ObjectKey{Namespace: "plaza", Name: name}, &secret) != nil {
		return nil
	}
	return secret.Data
}

// keysOf returns what a server reports of a key file.
func (s *Servers) keysOf(ctx context.Context, code v1alpha1.RegionCode, secret, file string) statusz.KeyFile {
	var doc struct {
		Keys []struct {
			ID       string    `json:"id"`
			Kid      string    `json:"kid"`
			NotAfter time.Time `json:"notAfter"`
		} `json:"keys"`
	}
	if json.Unmarshal(s.files(ctx, code, secret)[file], &doc) != nil {
		return statusz.KeyFile{}
	}
	var keys []statusz.Key
	for _, key := range doc.Keys {
		valid := key.NotAfter.IsZero() || s.harness.Now.Before(key.NotAfter)
		keys = append(keys, statusz.Key{ID: key.ID + key.Kid, NotAfter: key.NotAfter, Valid: valid})
	}
	return statusz.KeyFile{Keys: keys}
}

// loadAuthorities reads the Secret with the certificate of the pod's region.
func (s *Servers) loadAuthorities(ctx context.Context, pod *Pod) {
	files := s.files(ctx, pod.code, render.ControlSecret(s.harness.SN.Name, pod.code))
	read, err := control.ParseCredentials(files[control.CertificateFile], files[control.KeyFile], files[control.AuthoritiesFile])
	if pod.StaleKeys || err != nil {
		return
	}
	pod.trusted = nil
	for _, authority := range read.Authorities {
		pod.trusted = append(pod.trusted, statusz.Key{ID: control.ID(authority), Valid: s.harness.Now.Before(authority.NotAfter)})
	}
}

// loadEvacuated reads the Secret with the regions that are evacuated to the pod's.
func (s *Servers) loadEvacuated(ctx context.Context, pod *Pod) {
	if pod.StaleKeys && pod.evacuated != nil {
		return
	}
	var file auth.EvacuationFile
	files := s.files(ctx, pod.code, render.EvacuationSecret(s.harness.SN.Name, pod.code))
	if files != nil && json.Unmarshal(files[render.EvacuationFile], &file) != nil {
		return
	}
	pod.evacuated = &statusz.Evacuated{}
	for _, region := range file.Regions {
		read := statusz.EvacuatedRegion{Region: region.Region}
		for _, key := range region.ServerKeys {
			read.ServerKeys = append(read.ServerKeys, statusz.Key{ID: key.ID, Valid: true})
		}
		pod.evacuated.Regions = append(pod.evacuated.Regions, read)
	}
}

// PushModeration stores the settings for all regions, as replication does.
func (s connection) PushModeration(_ context.Context, server platformclient.Server, token keyring.Secret,
	m platformclient.Moderation,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.receive(server, token); err != nil {
		return err
	}
	for code := range s.Pods {
		s.Moderation[code] = statusz.Moderation{
			IsWhitelistEnabled: m.WhitelistEnabled, IsReportEnabled: m.ReportEnabled, FlagLimit: int(m.FlagLimit),
			FlagHideLimit: int(m.FlagHideLimit),
			Generation:    m.ReportedGeneration(), AsOf: Start,
		}
	}
	return nil
}

// PushHooks stores the webhooks and the pre-hook for all regions, as replication does, except for those that are refused.
func (s connection) PushHooks(
	ctx context.Context, server platformclient.Server, token keyring.Secret, hooks platformclient.Hooks,
) ([]platformclient.Refusal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.receive(server, token); err != nil {
		return nil, err
	}
	s.PushedHooks = hooks
	for code := range s.Pods {
		s.Hooks[code] = s.harness.HooksOf(ctx, hooks, s.Refused)
	}
	return s.Refused, nil
}

// HooksOf returns what servers report that run hooks, except for those that are refused.
func (h *Harness) HooksOf(ctx context.Context, hooks platformclient.Hooks, refused []platformclient.Refusal) *statusz.Hooks {
	var identity corev1.Secret
	if err := h.Client.Get(ctx, client.ObjectKey{Namespace: "plaza", Name: render.IdentitySecret(h.SN.Name)}, &identity); err != nil {
		return nil
	}
	key := identity.Data[keyring.DirectoryKeyFile]
	isRefused := func(name string) bool {
		return slices.ContainsFunc(refused, func(r platformclient.Refusal) bool { return r.Name == name })
	}
	found := &statusz.Hooks{Enabled: true, AsOf: Start}
	for _, w := range hooks.Webhooks {
		if !isRefused(w.Name) {
			found.Webhooks = append(found.Webhooks, statusz.Webhook{Name: w.Name, Digest: w.Hash(key)})
		}
	}
	if hooks.Prehook != nil && !isRefused("") {
		found.PrehookDigest = hooks.Prehook.Hash(key)
	}
	return found
}

// receive records a push, and returns the error of the server that receives it.
func (s connection) receive(server platformclient.Server, token keyring.Secret) error {
	if _, err := s.reach(server); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(server.Control)
	if err != nil || token.Reveal() == "" {
		return errors.New("the address or the token is missing")
	}
	s.Pushes = append(s.Pushes, host)
	if s.UnreachableAPIs[host] {
		return errUnreachable
	}
	return s.PushError
}
