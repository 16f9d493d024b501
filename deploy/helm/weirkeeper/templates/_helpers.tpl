{{- define "weirkeeper.name" -}}
{{- if contains "weirkeeper" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-weirkeeper" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "weirkeeper.selector" -}}
app.kubernetes.io/name: weirkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "weirkeeper.labels" -}}
{{ include "weirkeeper.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "weirkeeper.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "weirkeeper.name" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}
