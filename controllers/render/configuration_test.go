package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	urlAll = "postgresql://plaza@db.example:26257/plaza"
	urlUS  = "postgresql://plaza@us.db.example:26257/plaza"
	urlEU  = "postgresql://plaza@eu.db.example:26257/plaza"
	urlSG  = "postgresql://plaza@sg.db.example:26257/plaza"
)

// TestPlatformAcceptsConfiguration loads the platform's configuration as a rendered pod would, for every sample, region and variant
// of the database's Secret.
func TestPlatformAcceptsConfiguration(t *testing.T) {
	secrets := map[string]struct {
		data    map[string]string
		primary map[region.Code]string // the home of rows that belong to no region, for a region and for a migration with this primary region
	}{
		"one": {map[string]string{"url": urlAll}, map[region.Code]string{"us": urlAll, "eu": urlAll, "sg": urlAll}},
		"three": {
			map[string]string{"url-us": urlUS, "url-eu": urlEU, "url-sg": urlSG},
			map[region.Code]string{"us": urlUS, "eu": urlEU, "sg": urlSG},
		},
		"one of four": {map[string]string{"url": urlAll, "url-eu": urlEU}, map[region.Code]string{"us": urlAll, "eu": urlAll, "sg": urlAll}},
		"two":         {map[string]string{"url-us": urlUS, "url-eu": urlEU}, map[region.Code]string{"us": urlUS, "eu": urlEU, "sg": urlUS}},
	}
	for name, sn := range specs(t) {
		n := networkOf(sn)
		for kind, secret := range secrets {
			t.Run(name+"/"+kind, func(t *testing.T) {
				for i := range sn.Spec.Regions {
					r := &sn.Spec.Regions[i]
					d := render.Deployment(n, r)
					cfg := load(t, d.Spec.Template.Spec, render.ConfigMap(n, r), secret.data)
					require.NoError(t, cfg.CheckServe())
					require.Equal(t, region.Code(r.Code), cfg.Region)
					require.Equal(t, config.NetworkID(n.NetworkID), cfg.NetworkID)
					require.Equal(t, config.BaseURL(render.Endpoint(r)), cfg.PublicURL)
					require.Equal(t, secret.primary[cfg.Region], cfg.DatabaseURL.Reveal())
					requireLocalities(t, sn, cfg)
					requireGrace(t, d.Spec.Template.Spec, cfg)
				}
				pod := render.MigrationJob(n, 1).Spec.Template.Spec
				pod.Containers[0].Args = without(pod.Containers[0].Args, "migrate", "up", "--json", "--termination-log="+render.TerminationLog)
				cfg := load(t, pod, nil, secret.data)
				require.NoError(t, cfg.Check("database-url"))
				require.Equal(t, config.NetworkID(n.NetworkID), cfg.NetworkID)
				require.Equal(t, "a secret of "+keyring.DirectoryKeyFile, cfg.DirectoryKey.Reveal())
				require.Equal(t, secret.primary[region.Code(sn.Spec.Database.PrimaryRegion)], cfg.DatabaseURL.Reveal())
				requireLocalities(t, sn, cfg)
			})
		}
	}
}

func requireLocalities(t *testing.T, sn *v1alpha1.SocialNetwork, cfg config.Config) {
	t.Helper()
	for code, name := range sn.Spec.Database.Localities {
		require.Equal(t, name, cfg.Localities()[region.Code(code)])
	}
	require.Equal(t, config.Survive(sn.Spec.Database.Survive), cfg.Survive)
}

// requireGrace checks that the grace period covers the whole shutdown.
func requireGrace(t *testing.T, pod corev1.PodSpec, cfg config.Config) {
	t.Helper()
	sleep := time.Duration(pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds) * time.Second
	grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second
	require.GreaterOrEqual(t, grace, sleep+cfg.DrainDelay.Std()+cfg.ShutdownTimeout.Std()+5*time.Second)
}

// load does the work of the kubelet and the program: files from volumes, variables from Secrets, flags from arguments.
func load(t *testing.T, pod corev1.PodSpec, file *corev1.ConfigMap, secret map[string]string) config.Config {
	t.Helper()
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	if file != nil {
		for name, text := range file.Data {
			write("/etc/plaza/config/"+name, strings.ReplaceAll(text, `"/etc/plaza`, `"`+root+"/etc/plaza"))
		}
	}
	for _, volume := range pod.Volumes {
		if volume.Secret == nil {
			continue
		}
		for _, item := range volume.Secret.Items {
			write(filepath.Join(mountOf(t, pod.Containers[0], volume.Name), item.Path), "a secret of "+item.Key)
		}
	}
	flags := pflag.NewFlagSet("plaza", pflag.ContinueOnError)
	config.AddFlags(flags)
	args := without(pod.Containers[0].Args, "serve")
	for i := range args {
		for _, flag := range []string{"--config=", "--directory-key-file="} {
			args[i] = strings.Replace(args[i], flag, flag+root, 1)
		}
	}
	require.NoError(t, flags.Parse(args))
	cfg, err := config.Load(flags, func(name string) (string, bool) { return variable(pod.Containers[0], name, secret) })
	require.NoError(t, err)
	return cfg
}

func variable(c corev1.Container, name string, secret map[string]string) (string, bool) {
	for _, v := range c.Env {
		switch {
		case v.Name != name:
		case v.ValueFrom == nil:
			return v.Value, true
		case v.ValueFrom.SecretKeyRef != nil:
			text, ok := secret[v.ValueFrom.SecretKeyRef.Key]
			return text, ok
		}
	}
	return "", false
}

func mountOf(t *testing.T, c corev1.Container, volume string) string {
	t.Helper()
	for _, mount := range c.VolumeMounts {
		if mount.Name == volume {
			return mount.MountPath
		}
	}
	require.Fail(t, "not mounted", volume)
	return ""
}

func without(args []string, gone ...string) []string {
	var out []string
	for _, arg := range args {
		keep := true
		for _, g := range gone {
			keep = keep && arg != g
		}
		if keep {
			out = append(out, arg)
		}
	}
	return out
}
