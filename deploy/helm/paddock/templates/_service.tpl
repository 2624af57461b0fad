{{/*
The ServiceAccount, the Deployment and the PodDisruptionBudget of one service.
Takes root, service and cluster (whether it calls the cluster).
*/}}
{{- define "paddock.service" -}}
{{- $values := index .root.Values .service -}}
{{- $name := printf "%s-%s" (include "paddock.fullname" .root) .service -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
  {{- with $values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .service }}
spec:
  {{- if not (and (hasKey $values "autoscaling") $values.autoscaling.enabled) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  # The schema comes first: no replica of the new version is ready before it fits.
  progressDeadlineSeconds: 900
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: {{- include "paddock.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .service }}
  template:
    metadata:
      # No version: an upgrade of the chart alone restarts nothing.
      labels: {{- include "paddock.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .service }}
        {{- with merge dict $values.podLabels .root.Values.commonLabels }}{{- toYaml . | nindent 8 }}{{- end }}
      {{- with $values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      automountServiceAccountToken: {{ .cluster }}
      terminationGracePeriodSeconds: {{ include "paddock.terminationGracePeriodSeconds" .root }}
      {{- include "paddock.podSettings" (dict "root" .root "values" $values) | nindent 6 }}
      {{- with $values.priorityClassName }}
      priorityClassName: {{ . | quote }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        {{- with $values.topologySpreadConstraints }}{{- toYaml . | nindent 8 }}{{- else }}
        {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ . | quote }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{- include "paddock.selector" $.root | nindent 14 }}
              app.kubernetes.io/component: {{ $.service }}
        {{- end }}
        {{- end }}
      containers:
        - name: {{ .service | quote }}
          image: {{ include "paddock.image" . }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          env:
            {{- if ne .service "console" }}
            - { name: PADDOCK_CONFIG, value: /etc/paddock/config/paddock.yaml }
            {{- else if $values.signIn }}
            - { name: PADDOCK_SIGN_IN, value: /etc/paddock/config/sign-in.yaml }
            {{- end }}
            {{- include "paddock.environment" (dict "root" .root "service" .service "values" $values) | nindent 12 }}
          ports:
            {{- range $port, $number := index (include "paddock.ports" .root | fromYaml) .service }}
            - { name: {{ $port | quote }}, containerPort: {{ $number }} }
            {{- end }}
          # A process that does not answer for half a minute is started anew.
          livenessProbe:
            httpGet: { path: /healthz, port: health }
            periodSeconds: 10
            timeoutSeconds: 5
          readinessProbe:
            httpGet: { path: /readyz, port: health }
            periodSeconds: 5
            timeoutSeconds: 5
          {{- if has .service (list "ingress" "console") }}
          # Requests come until every node knows that this pod ends.
          lifecycle:
            preStop: { exec: { command: [node, --eval, 'setTimeout(() => {}, 5_000)'] } }
          {{- end }}
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext: {{- include "paddock.securityContext" .root | nindent 12 }}
          {{- with concat (include "paddock.volumeMounts" . | fromYamlArray) $values.volumeMounts }}
          # Whole folders: a file mounted by `subPath` would never change.
          volumeMounts: {{- toYaml . | nindent 12 }}
          {{- end }}
      {{- with concat (include "paddock.volumes" . | fromYamlArray) $values.volumes }}
      volumes: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- if $values.disruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
spec:
  maxUnavailable: {{ $values.disruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "paddock.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .service }}
{{- end }}
{{- end -}}

{{- define "paddock.podSettings" -}}
securityContext: { runAsNonRoot: true, {{ if .root.Values.fixedUser }}fsGroup: 65532, {{ end }}seccompProfile: { type: RuntimeDefault } }
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
The credentials folder of a service: its name below /etc/paddock and its Secret. The console has none
but its own secret at an identity provider, and no configuration file, which names those of the Apps.
*/}}
{{- define "paddock.credentials" -}}
{{- get (dict "ingress" "webhook" "console" "signIn") .service | default "app" -}}
{{- end -}}

{{/*
The keys of that Secret which a service mounts: those that its configuration names. So one Secret for
all services brings none of them what only another one reads.
*/}}
{{- define "paddock.keys" -}}
{{- $credentials := include "paddock.credentials" . -}}
{{- $files := list (dig "oidc" "clientSecret" "file" "" .root.Values.console.signIn) -}}
{{- range $app := .root.Values.config.github.apps -}}
{{- range $key, $readers := include "paddock.readers" $ | fromYaml -}}
{{- if has $.service $readers }}{{ $files = append $files (dig $key "file" "" $app) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if eq .service "reconciler" }}{{ $files = append $files (dig "notifications" "webhook" "file" "" .root.Values.config) }}{{ end -}}
{{- $keys := list -}}
{{- range $file := $files -}}
{{- $key := trimPrefix (printf "/etc/paddock/%s/" $credentials) $file -}}
{{- if and (ne $key $file) (regexMatch "^[-._a-zA-Z0-9]+$" $key) }}{{ $keys = append $keys $key }}{{ end -}}
{{- end -}}
{{- if (index .root.Values.credentials $credentials).existingSecret }}{{ $keys | uniq | sortAlpha | toJson }}{{ else }}[]{{ end -}}
{{- end -}}

{{/* Whether a service has a ConfigMap of its own, or that of the release; empty: it has none. */}}
{{- define "paddock.configMap" -}}
{{- $name := include "paddock.fullname" .root -}}
{{- if ne .service "console" }}{{ $name }}{{ else if .root.Values.console.signIn }}{{ $name }}-sign-in{{ end -}}
{{- end -}}

{{- define "paddock.volumeMounts" -}}
{{- $credentials := include "paddock.credentials" . }}
{{- if include "paddock.configMap" . }}
- { name: config, mountPath: /etc/paddock/config, readOnly: true }
{{- end }}
{{- if include "paddock.keys" . | fromJsonArray }}
- { name: credentials, mountPath: /etc/paddock/{{ $credentials }}, readOnly: true }
{{- end }}
{{- include "paddock.databaseMount" . }}
{{- end -}}

{{- define "paddock.volumes" -}}
{{- with include "paddock.configMap" . }}
- name: config
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- with include "paddock.keys" . | fromJsonArray }}
- name: credentials
  secret:
    secretName: {{ (index $.root.Values.credentials (include "paddock.credentials" $)).existingSecret | quote }}
    defaultMode: 0440
    # A service that lacks a key starts, and its readiness says so.
    optional: true
    items:
      {{- range . }}
      - { key: {{ . | quote }}, path: {{ . | quote }} }
      {{- end }}
{{- end }}
{{- include "paddock.databaseVolume" . }}
{{- end -}}

{{- define "paddock.databaseMount" -}}
{{- with .root.Values.database.certificateAuthority }}{{- if or .configMap .secret }}
- { name: database-ca, mountPath: /etc/paddock/database, readOnly: true }
{{- end }}{{- end }}
{{- end -}}

{{- define "paddock.databaseVolume" -}}
{{- with .root.Values.database.certificateAuthority }}
{{- if .configMap }}
- name: database-ca
  configMap: { name: {{ .configMap | quote }} }
{{- else if .secret }}
- name: database-ca
  secret: { secretName: {{ .secret | quote }}, defaultMode: 0440 }
{{- end }}
{{- end }}
{{- end -}}
