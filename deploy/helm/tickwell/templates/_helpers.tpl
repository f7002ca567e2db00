{{- /* The name that all objects begin with: the release's. */ -}}
{{- define "tickwell.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "tickwell.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What a selector matches; never changes during the life of a release. Takes (dict "root" $ "role" "api"). */ -}}
{{- define "tickwell.selector" -}}
app.kubernetes.io/name: tickwell
app.kubernetes.io/instance: {{ include "tickwell.name" .root }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "tickwell.labels" -}}
{{ include "tickwell.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tickwell
{{- end }}

{{- /* What every pod has in common. */ -}}
{{- define "tickwell.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  # Makes the mounted secrets readable to the group.
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "tickwell.container" -}}
image: {{ include "tickwell.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/tickwell
    readOnly: true
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- /* Settings that all roles share. */ -}}
{{- define "tickwell.env" -}}
- name: CREDENTIALS_DIRECTORY
  value: /run/secrets/tickwell
- name: TICKWELL_DRAIN_TIMEOUT
  value: {{ printf "%ds" (int .Values.drainSeconds) | quote }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "tickwell.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
