{{- define "ringside.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "ringside.selector" -}}
app.kubernetes.io/name: ringside
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "ringside.labels" -}}
{{ include "ringside.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "ringside.secret" -}}
{{- .Values.auth.existingSecret | default (printf "%s-auth" (include "ringside.name" .)) -}}
{{- end -}}

{{- define "ringside.nodeTLSSecret" -}}
{{- if .Values.nodeTLS.secretName -}}
{{ .Values.nodeTLS.secretName }}
{{- else if .Values.nodeTLS.certManager.enabled -}}
{{ include "ringside.name" . }}-node-tls
{{- end -}}
{{- end -}}

{{- define "ringside.tlsSecret" -}}
{{- if .Values.tls.secretName -}}
{{ .Values.tls.secretName }}
{{- else if .Values.tls.certManager.enabled -}}
{{ include "ringside.name" . }}-tls
{{- end -}}
{{- end -}}
