{{/* The name of all objects: the release name, followed by the chart's name if the release name does not contain it. */}}
{{- define "plaza-operator.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "plaza-operator.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "plaza-operator.fullname" .) -}}
{{- end -}}

{{/* The NetworkPolicies of networks allow traffic from pods with this name. */}}
{{- define "plaza-operator.selector" -}}
app.kubernetes.io/name: plaza-operator
{{- end -}}

{{- define "plaza-operator.labels" -}}
{{ include "plaza-operator.selector" . }}
app.kubernetes.io/part-of: plaza
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The reference of an image: arguments are the image's values and the chart's appVersion. */}}
{{- define "plaza-operator.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .version) -}}
{{- end -}}
{{- end -}}

{{/* The operator's permissions on networks and their objects: the rules of config/rbac/manager/role.yaml. */}}
{{- define "plaza-operator.rules" -}}
{{- .Files.Get "files/rules.yaml" -}}
{{- end -}}
