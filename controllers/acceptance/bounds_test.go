package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// bounds are the values that a field may have: numbers or durations from least to most, or some texts.
type bounds struct {
	least, most string
	oneOf       []string // every value that the field may have
	allowed     []string // some values of a pattern or rule
	refused     []string // values that the pattern or rule refuses
}

func from(least, most string) bounds    { return bounds{least: least, most: most} }
func oneOf(values ...string) bounds     { return bounds{oneOf: values} }
func like(allowed ...string) bounds     { return bounds{allowed: allowed} }
func (b bounds) not(r ...string) bounds { b.refused = r; return b }

// crdBounds are the bounds of the fields of testdata/everything.yaml. A list's index is that of an element which has the field there.
var crdBounds = map[string]bounds{
	"spec.apiKeys.overlap":             from("1m", "8784h"),
	"spec.apiKeys.rotateEvery":         from("24h", "87840h"),
	"spec.backup.destinations[0].code": oneOf("us", "eu", "sg"),
	"spec.backup.destinations[0].url": like("s3://b-1/a?region=x", "gs://b-1").not("file:///b-1", "s3://b-1?SECRET=x",
		"azblob://b-1"),
	"spec.backup.overdueAfter":                      from("10m", "168h"),
	"spec.backup.retention":                         from("24h", "87840h"),
	"spec.backup.schedule":                          like("@hourly", "0 3 * * MON").not("at night", "0 3 * *", "@yearly"),
	"spec.database.maxConnections":                  from("1", "1000000"),
	"spec.database.primaryRegion":                   oneOf("us", "eu", "sg"),
	"spec.database.survive":                         oneOf("zone", "region"),
	"spec.deletionPolicy":                           oneOf("Retain", "Delete"),
	"spec.image":                                    like("plaza:v1", "registry.example/plaza@sha256:0").not("plaza v1", " plaza"),
	"spec.imagePullPolicy":                          oneOf("Always", "IfNotPresent", "Never"),
	"spec.maintenanceWindows[0].days[0]":            oneOf("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
	"spec.maintenanceWindows[0].duration":           from("10m", "168h"),
	"spec.maintenanceWindows[0].start":              like("00:00", "23:59").not("24:00", "7:00", "12:60"),
	"spec.maintenanceWindows[0].timeZone":           like("Etc/GMT+1", "America/Port-au-Prince").not("Europe Berlin", "../UTC"),
	"spec.moderation.flagHideLimit":                 from("0", "1000"),
	"spec.moderation.flagLimit":                     from("1", "1000"),
	"spec.monitoring.alerts.availability":           like("90", "99.999", "99.9").not("89.9999", "99.9991", "100", "9", "high"),
	"spec.monitoring.alerts.latencyP99":             from("5ms", "10s"),
	"spec.monitoring.alerts.overrides[0].severity":  oneOf("critical", "warning", "info"),
	"spec.monitoring.alerts.overrides[0].threshold": like("1h30m", "0.25", "3").not("1d", "a lot", "-1", "0.12345"),
	"spec.monitoring.alerts.runbookURL":             like("http://x", "https://x/y").not("x", "ftp://x"),
	"spec.monitoring.probe.prober":                  like("prober", "prober.monitoring:9115").not("http://prober", "prober:", "-x"),
	"spec.observability.tracing.endpoint":           like("http://c:4317", "https://c/v1").not("c:4317", "http://user@c", "http://c?x=y"),
	"spec.observability.tracing.samplingPercent":    like("100", "0.125", "0").not("101", "1000", "0.1234", "-1"),
	"spec.preHook.defaultAction":                    oneOf("Allow", "Deny"),
	"spec.preHook.timeout":                          from("100ms", "3s"),
	"spec.push.apns.keyID":                          like("0123456789").not("ABCDE1234", "ABCDE123456", "abcde12345"),
	"spec.push.apns.teamID":                         like("0123456789").not("ABCDE1234", "ABCDE123456", "abcde12345"),
	"spec.push.apns.topic":                          like("com.acme-1").not("com acme", ""),
	"spec.push.web.subject":                         like("https://acme.example").not("ops", "http://acme.example", "mailto:ops"),
	"spec.rateLimit":                                like("off", "1/1s", "9999999/1h30m").not("0/1s", "on", "10", "10000000/1s"),
	"spec.regions[0].code":                          oneOf("us", "eu", "sg"),
	"spec.regions[0].extraHosts[0]":                 like("*.example", "a-b.example").not("*", "A.example", "https://a"),
	"spec.regions[0].host": like("a", "a-b.example").not("*.example", "A.example", "https://a", "a:80", "-a",
		"a."),
	"spec.regions[0].replicas":                      from("1", "200"),
	"spec.regions[0].scheme":                        oneOf("http", "https"),
	"spec.regions[0].volumes[0].emptyDir.sizeLimit": like("1", "512MiB").not("0", "1GB", "01GiB"),
	"spec.regions[0].volumes[0].mountPath": like("/cache", "/etc/ssl", "/tmp/x").not("cache", "/tmp", "/etc/plaza",
		"/etc/plaza/keys", "/a:b"),
	"spec.regions[0].volumes[0].name":                  like("a", "a-1").not("A", "-a", "a."),
	"spec.regions[1].autoscaling.maxReplicas":          from("1", "200"),
	"spec.regions[1].autoscaling.minReplicas":          from("1", "200"),
	"spec.regions[1].autoscaling.targetCPUUtilization": from("1", "100"),
	"spec.regions[1].cluster":                          like("a", "a-1").not("A", "-a", "a."),
	"spec.regions[1].evacuateTo":                       oneOf("us", "eu", "sg"),
	"spec.regions[1].gateway.requestTimeout":           like("1h30m").not("1d", "90"),
	"spec.regions[1].namespace":                        like("a", "a-1").not("A", "-a", "a."),
	"spec.rollout.maxErrorPercent":                     from("0", "100"),
	"spec.rollout.maxRegionsRolling":                   from("1", "3"),
	"spec.rollout.soak":                                from("0s", "24h"),
	"spec.server.corsOrigins[0]":                       like("http://a:80").not("*", "https://a/", "https://a, https://b"),
	"spec.server.logLevel":                             oneOf("debug", "info", "warn", "error"),
	"spec.server.tokens.accessLifetime":                from("1m", "8784h"),
	"spec.server.tokens.authLifetime":                  from("1m", "24h"),
	"spec.server.uploads.dailyFiles":                   from("1", "1000000"),
	"spec.server.uploads.dailySize":                    like("1", "512MiB").not("0", "1GB", "01GiB"),
	"spec.server.uploads.maxFileSize":                  like("1", "512MiB").not("0", "1GB", "01GiB"),
	"spec.server.webhookNetworks[0]":                   like("fd00::/8").not("10.0.0.1", "host/8"),
	"spec.serverKeys.overlap":                          from("1m", "168h"),
	"spec.serverKeys.retainRemoved":                    from("0s", "8784h"),
	"spec.serverKeys.rotateEvery":                      from("10m", "8784h"),
	"spec.signingKeys.overlap":                         from("1m", "8784h"),
	"spec.signingKeys.rotateEvery":                     from("24h", "87840h"),
	"spec.storage.homes[0].code":                       oneOf("us", "eu", "sg"),
	"spec.storage.homes[0].url":                        like("s3://b-1", "gs://b-1", "azblob://b-1").not("file:///b-1", "http://b-1", "b-1"),
	"spec.storage.url": like("s3://b-1", "gs://b-1", "azblob://b-1", "file:///b-1").not("file://b-1",
		"http://b-1", "b-1"),
	"spec.trustedProxies":   like("10.0.0.0/8, fd00::1").not("localhost"),
	"spec.webhooks[0].name": like("a", "a-1").not("A", "-a", "a."),
}

// quantities are fields with types of Kubernetes.
var quantities = regexp.MustCompile(`\.(divisor|limits\{\}|requests\{\})$`)

// TestBounds sets each field of the CRD that has a minimum, a maximum, an enumeration, a pattern or a rule for its text to the last values
// that are allowed and the first ones that are not.
func TestBounds(t *testing.T) {
	t.Parallel()
	namespace := env.Namespace(t)
	known := map[string]bounds{}
	for field, b := range crdBounds {
		known[listIndex.ReplaceAllString(field, "[]")] = b
	}
	walkSchema("", crdSchema(t), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		isText := schema.Type == "string"
		hasBounds := schema.Minimum != nil || schema.Maximum != nil || schema.Enum != nil || schema.Pattern != "" || isText &&
			len(schema.XValidations) > 0
		if hasBounds && strings.HasPrefix(path, "spec.") && !quantities.MatchString(path) {
			b, found := known[path]
			require.True(t, found, "%s has no row in crdBounds", path)
			require.Equal(t, schema.Enum != nil, b.oneOf != nil, path)
			require.Equal(t, isRange(schema), b.least != "", path)
		}
		delete(known, path)
	})
	require.Empty(t, known, "the CRD does not have these fields")
	for field, b := range crdBounds {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			allowed, refused := b.values(t)
			for _, value := range allowed {
				require.Empty(t, complaintsAbout(t, namespace, field, value), value)
			}
			for _, value := range refused {
				require.NotEmpty(t, complaintsAbout(t, namespace, field, value), value)
			}
		})
	}
}

// isRange reports whether a field is a number or a duration with bounds.
func isRange(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.Minimum != nil || slices.ContainsFunc(schema.XValidations, func(r apiextensionsv1.ValidationRule) bool {
		return strings.HasPrefix(r.Rule, "duration(self) >= ")
	})
}

// values returns the values at the bounds, and those just outside.
func (b bounds) values(t *testing.T) (allowed, refused []any) {
	t.Helper()
	for _, text := range slices.Concat(b.oneOf, b.allowed) {
		allowed = append(allowed, text)
	}
	for _, text := range b.refused {
		refused = append(refused, text)
	}
	if b.oneOf != nil {
		refused = append(refused, "", "other", strings.ToUpper(b.oneOf[0])+"x")
	}
	if b.least == "" {
		return allowed, refused
	}
	if least, err := strconv.ParseInt(b.least, 10, 64); err == nil {
		most, err := strconv.ParseInt(b.most, 10, 64)
		require.NoError(t, err)
		return []any{least, most}, []any{least - 1, most + 1}
	}
	least, err := time.ParseDuration(b.least)
	require.NoError(t, err)
	most, err := time.ParseDuration(b.most)
	require.NoError(t, err)
	return []any{b.least, b.most}, []any{
		strconv.FormatInt(least.Milliseconds()-1, 10) + "ms", strconv.FormatInt(most.Milliseconds()+1, 10) + "ms", "1d", "10", "soon",
	}
}

// complaintsAbout returns what the API server has against a value of a field.
func complaintsAbout(t *testing.T, namespace, field string, value any) []complaint {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "controllers", "testdata", "everything.yaml"))
	require.NoError(t, err)
	sn := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &sn.Object))
	sn.SetNamespace(namespace)
	setField(t, sn.Object, field, value)
	path := listIndex.ReplaceAllString(field, "[]")
	return slices.DeleteFunc(complaintsOf(t, env.Client.Create(t.Context(), sn, client.DryRunAll)),
		func(c complaint) bool { return c.path != path })
}

// step is a step of a path such as spec.regions[0].host: a name, and the index in a list.
var step = regexp.MustCompile(`(\w+)(?:\[(\d+)\])?`)

// setField sets a field at a path such as spec.regions[0].host, and adds what is missing on the way: objects, and lists with one element.
func setField(t *testing.T, object map[string]any, path string, value any) {
	t.Helper()
	steps := step.FindAllStringSubmatch(path, -1)
	for i, s := range steps {
		isLast := i == len(steps)-1
		if s[2] == "" && isLast {
			object[s[1]] = value
			return
		}
		if s[2] == "" {
			object = orNew(object, s[1], map[string]any{})
			continue
		}
		list := orNew(object, s[1], []any{map[string]any{}})
		index, err := strconv.Atoi(s[2])
		require.NoError(t, err)
		if isLast {
			list[index] = value
			return
		}
		object = list[index].(map[string]any)
	}
}

// orNew returns the value of a key, and sets it to fresh first if there is none.
func orNew[T any](object map[string]any, key string, fresh T) T {
	value, found := object[key].(T)
	if !found {
		value = fresh
		object[key] = value
	}
	return value
}

// TestEverythingIsAccepted checks that nothing is wrong with the manifest that TestBounds changes.
func TestEverythingIsAccepted(t *testing.T) {
	t.Parallel()
	require.Empty(t, complaintsAbout(t, env.Namespace(t), "spec.image", "acme/plaza:v2"))
	require.NotEmpty(t, complaintsAbout(t, env.Namespace(t), "spec.image", "acme/plaza v2"))
}
