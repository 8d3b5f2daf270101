package acceptance

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// lengths are the least and the greatest number of characters of a text, elements of a list or entries of a map.
type lengths struct{ least, most int }

// objectName is the length of the names of objects of Kubernetes.
var objectName = lengths{1, 253}

// crdLengths are the lengths of the fields of networks.
var crdLengths = map[string]lengths{
	"spec.backup.destinations":                            {3, 3},
	"spec.backup.destinations[].secretRef.name":           objectName,
	"spec.backup.destinations[].url":                      {8, 1000},
	"spec.backup.schedule":                                {6, 100},
	"spec.database.confirmLocalities":                     {0, 3},
	"spec.database.localities":                            {1, 3},
	"spec.database.secretRef.name":                        objectName,
	"spec.database.tls.caSecretRef.name":                  objectName,
	"spec.database.tls.clientSecretRef.name":              objectName,
	"spec.database.tls.ownerSecretRef.name":               objectName,
	"spec.image":                                          {1, 500},
	"spec.imagePullSecrets":                               {0, 10},
	"spec.imagePullSecrets[].name":                        objectName,
	"spec.maintenanceWindows":                             {0, 20},
	"spec.maintenanceWindows[].days":                      {0, 7},
	"spec.maintenanceWindows[].timeZone":                  {0, 64},
	"spec.monitoring.alerts.availability":                 {0, 8},
	"spec.monitoring.alerts.disabled":                     {0, 50},
	"spec.monitoring.alerts.disabled[]":                   {0, 100},
	"spec.monitoring.alerts.labels":                       {0, 20},
	"spec.monitoring.alerts.overrides":                    {0, 50},
	"spec.monitoring.alerts.overrides[].name":             {1, 100},
	"spec.monitoring.alerts.overrides[].threshold":        {0, 20},
	"spec.monitoring.alerts.runbookURL":                   {0, 500},
	"spec.monitoring.grafana.instanceLabels":              {0, 20},
	"spec.monitoring.labels":                              {0, 20},
	"spec.monitoring.probe.module":                        {1, 100},
	"spec.monitoring.probe.prober":                        {0, 259},
	"spec.networkPolicy.metricsFrom":                      {0, 20},
	"spec.observability.tracing.endpoint":                 {0, 500},
	"spec.observability.tracing.samplingPercent":          {0, 6},
	"spec.preHook.events":                                 {0, 50},
	"spec.preHook.events[]":                               {1, 60},
	"spec.preHook.secretRef.name":                         objectName,
	"spec.preHook.url":                                    {0, 900},
	"spec.push.apns.keySecretRef.name":                    objectName,
	"spec.push.apns.topic":                                {0, 200},
	"spec.push.fcm.credentialsSecretRef.name":             objectName,
	"spec.push.web.keySecretRef.name":                     objectName,
	"spec.push.web.subject":                               {0, 300},
	"spec.rateLimit":                                      {0, 40},
	"spec.regions":                                        {1, 3},
	"spec.regions[].cluster":                              {0, 63},
	"spec.regions[].env":                                  {0, 100},
	"spec.regions[].extraHosts":                           {0, 10},
	"spec.regions[].extraHosts[]":                         {0, 253},
	"spec.regions[].gateway.parentRef.name":               objectName,
	"spec.regions[].gateway.parentRef.namespace":          {0, 63},
	"spec.regions[].gateway.parentRef.sectionName":        {0, 253},
	"spec.regions[].host":                                 {0, 253},
	"spec.regions[].gateway.requestTimeout":               durationLength,
	"spec.regions[].ingress.annotations":                  {0, 50},
	"spec.regions[].ingress.className":                    {0, 253},
	"spec.regions[].ingress.tlsSecretName":                {0, 253},
	"spec.regions[].namespace":                            {0, 63},
	"spec.regions[].podAnnotations":                       {0, 50},
	"spec.regions[].podLabels":                            {0, 50},
	"spec.regions[].priorityClassName":                    {0, 253},
	"spec.regions[].serviceAccountAnnotations":            {0, 20},
	"spec.regions[].tolerations":                          {0, 50},
	"spec.regions[].topologySpreadConstraints":            {0, 10},
	"spec.regions[].volumes":                              {0, 20},
	"spec.regions[].volumes[].configMap.name":             objectName,
	"spec.regions[].volumes[].emptyDir.sizeLimit":         {0, 20},
	"spec.regions[].volumes[].mountPath":                  {0, 500},
	"spec.regions[].volumes[].name":                       {0, 63},
	"spec.regions[].volumes[].persistentVolumeClaim.name": objectName,
	"spec.regions[].volumes[].secret.name":                objectName,
	"spec.server.corsOrigins":                             {0, 100},
	"spec.server.corsOrigins[]":                           {0, 300},
	"spec.server.media.ingestURL":                         {0, 500},
	"spec.server.media.keySecretRef.name":                 objectName,
	"spec.server.media.playbackURL":                       {0, 500},
	"spec.server.uploads.dailySize":                       {0, 20},
	"spec.server.uploads.maxFileSize":                     {0, 20},
	"spec.server.webhookNetworks":                         {0, 20},
	"spec.server.webhookNetworks[]":                       {0, 43},
	"spec.serverKeys.existingSecret.name":                 objectName,
	"spec.serverKeys.revoke":                              {0, 50},
	"spec.serverKeys.revoke[]":                            {1, 100},
	"spec.storage.homes":                                  {0, 3},
	"spec.storage.homes[].url":                            {0, 1000},
	"spec.storage.secretRef.name":                         objectName,
	"spec.storage.url":                                    {0, 1000},
	"spec.trustedProxies":                                 {0, 500},
	"spec.webhooks":                                       {0, 10},
	"spec.webhooks[].events":                              {0, 100},
	"spec.webhooks[].events[]":                            {1, 60},
	"spec.webhooks[].name":                                {0, 63},
	"spec.webhooks[].secretRef.name":                      objectName,
	"spec.webhooks[].url":                                 {0, 900},
}

// ofKubernetes are the fields of types of Kubernetes, which have no lengths there. The API server limits the whole object.
var ofKubernetes = regexp.MustCompile(`\.(affinity|dnsConfig|env\[\]|metricsFrom\[\]|nodeSelector|resources|securityContext|tolerations\[\]|topologySpreadConstraints\[\]|volumes\[\]\.\w+\.items)(\.|$)`)

// durationLength is the length of durations with bounds.
var durationLength = lengths{0, 20}

// TestLengths sets each text, list and map of the CRD to the last length that is allowed, and to the first one that is not. Each has a
// maximum, unless its values are fixed.
func TestLengths(t *testing.T) {
	t.Parallel()
	namespace := env.Namespace(t)
	known := maps.Clone(crdLengths)
	walkSchema("", crdSchema(t), func(path string, schema *apiextensionsv1.JSONSchemaProps) {
		if !strings.HasPrefix(path, "spec.") || ofKubernetes.MatchString(path) || isFixed(path, schema) {
			return
		}
		want, found := known[path]
		delete(known, path)
		if isRange(schema) {
			want, found = durationLength, true
		}
		require.True(t, found, "%s has no row in crdLengths", path)
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			field := strings.ReplaceAll(path, "[]", "[0]")
			tooLong := func(length int) bool {
				return slices.ContainsFunc(complaintsAbout(t, namespace, field, ofLength(schema, length)), func(c complaint) bool {
					return lengthComplaint.MatchString(c.message)
				})
			}
			require.False(t, tooLong(want.least), "%d", want.least)
			require.False(t, tooLong(want.most), "%d", want.most)
			require.True(t, tooLong(want.most+1), "%d", want.most+1)
			if want.least > 0 {
				require.True(t, tooLong(want.least-1), "%d", want.least-1)
			}
		})
	})
	require.Empty(t, known, "the CRD does not have these fields")
}

// lengthComplaint is the beginning of what the API server says about a length.
var lengthComplaint = regexp.MustCompile(
	`^(Too long|Too many|Invalid value: .* should (be at least \d+ chars long|have at least \d+ (items|properties)))`)

// isFixed reports whether a field has no length: it is no text, list or map, or has an enumeration or a pattern of one length.
func isFixed(path string, schema *apiextensionsv1.JSONSchemaProps) bool {
	switch schema.Type {
	case "string":
		return schema.Enum != nil || fixedPatterns.MatchString(path) || strings.HasSuffix(path, "{}")
	case "array":
		return false
	case "object":
		return schema.AdditionalProperties == nil
	}
	return true
}

// fixedPatterns are the fields whose pattern has one length.
var fixedPatterns = regexp.MustCompile(`^spec\.(maintenanceWindows\[\]\.start|push\.apns\.(keyID|teamID))$`)

// ofLength returns a value of a length: a text, a list of the zero value of its elements, or a map.
func ofLength(schema *apiextensionsv1.JSONSchemaProps, length int) any {
	switch {
	case schema.Type == "string":
		return strings.Repeat("a", length)
	case schema.Type == "object":
		entries := map[string]any{}
		for i := range length {
			entries["k"+strconv.Itoa(i)] = "v"
		}
		return entries
	case schema.Items.Schema.Type == "string":
		return slices.Repeat([]any{""}, length)
	}
	return slices.Repeat([]any{map[string]any{}}, length)
}
