{{/*
The name in front of all objects, short enough for the longest suffix. Two releases of a namespace
never share one: each name ends in the chart's, but for the release of that very name.
*/}}
{{- define "paddock.fullname" -}}
{{- $own := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (eq .Release.Name .Chart.Name) -}}
{{- include "paddock.short" (dict "name" (.Values.fullnameOverride | default $own) "length" 40) -}}
{{- end -}}

{{/* Cuts a name to a length; a hash keeps two long names apart. */}}
{{- define "paddock.short" -}}
{{- if gt (len .name) (int .length) -}}
{{- printf "%s-%s" (trunc (sub .length 13 | int) .name | trimAll "-.") (sha256sum .name | trunc 12) -}}
{{- else -}}{{- .name | trimSuffix "-" -}}{{- end -}}
{{- end -}}

{{/*
The name of what this release makes in a namespace of runners, where other releases may make theirs.
No namespace has a dot in its name, so no two releases share this one.
*/}}
{{- define "paddock.runnersName" -}}
{{- include "paddock.short" (dict "name" (printf "%s.%s" .Release.Namespace (include "paddock.fullname" .)) "length" 52) -}}
{{- end -}}

{{- define "paddock.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "paddock.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "paddock.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
The label on all runner pods of this release, which its disruption budget selects, and on what is made
for them.
*/}}
{{- define "paddock.runnersLabel" -}}
app.kubernetes.io/part-of: {{ include "paddock.runnersName" . | quote }}
{{- end -}}

{{/* The namespaces of the pools, each once. */}}
{{- define "paddock.namespaces" -}}
{{- $names := list -}}
{{- range .Values.config.pools -}}{{- $names = append $names .namespace -}}{{- end -}}
{{- $names | uniq | sortAlpha | toJson -}}
{{- end -}}

{{/* The configuration file: as in the values, and each pool's pods with the release's labels. */}}
{{- define "paddock.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $labels := include "paddock.runnersLabel" . | fromYaml -}}
{{- range $config.pools -}}
{{- $template := merge (.template | default dict) (dict "metadata" dict) -}}
{{- $_ := set $template.metadata "labels" (merge dict $labels ($template.metadata.labels | default dict) $.Values.commonLabels) -}}
{{- $_ := set . "template" $template -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "paddock.image" -}}
{{- $image := index .root.Values.image .service -}}
{{- $repository := $image.repository | default (printf "%s/%s" (trimSuffix "/" .root.Values.image.registry) .service) -}}
{{- if $image.digest -}}{{ $repository }}@{{ $image.digest }}
{{- else -}}{{ $repository }}:{{ $image.tag | default .root.Chart.AppVersion }}{{- end -}}
{{- end -}}

{{/* The Secret that has a service's DSN, as `secretKeyRef`. */}}
{{- define "paddock.dsn" -}}
{{- $login := index .root.Values.database.logins .service -}}
{{- if $login.name -}}
{name: {{ $login.name | quote }}, key: {{ $login.key | quote }}}
{{- else if .root.Values.evaluation.enabled -}}
{name: {{ include "paddock.fullname" .root }}-evaluation, key: uri}
{{- else -}}
{name: {{ .root.Values.database.existingSecret.name | quote }}, key: {{ .root.Values.database.existingSecret.key | default .service | quote }}}
{{- end -}}
{{- end -}}

{{- define "paddock.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
{{- if .Values.fixedUser }}
runAsUser: 65532
runAsGroup: 65532
{{- end }}
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The port of an address. */}}
{{- define "paddock.portOf" -}}
{{- (urlParse .).host | regexFind ":[0-9]+$" | trimPrefix ":" | default (hasPrefix "http:" . | ternary 80 443) -}}
{{- end -}}

{{/* The ports of each service, by their names in its container. */}}
{{- define "paddock.ports" -}}
{{- $public := get .Values.settings "PADDOCK_PUBLIC_PORT" -}}
{{- $health := get .Values.settings "PADDOCK_HEALTH_PORT" -}}
ingress: { webhook: {{ $public | default 8080 }}, health: {{ $health | default 8083 }} }
scheduler: { health: {{ $health | default 8081 }} }
reconciler: { health: {{ $health | default 8082 }} }
console: { page: {{ $public | default 8084 }}, health: {{ $health | default 8085 }} }
{{- end -}}

{{/*
Most connections to PostgreSQL: those of all replicas, of `more` of each service, and of the migration.
docs/network.md has the numbers.
*/}}
{{- define "paddock.connections" -}}
{{- $values := .root.Values -}}
{{- $ingress := get $values.settings "PADDOCK_INGRESS_POOL_SIZE" | default 7 | int -}}
{{- $scheduler := get $values.settings "PADDOCK_SCHEDULER_POOL_SIZE" | default 8 | add 2 -}}
{{- $reconciler := get $values.settings "PADDOCK_RECONCILER_POOL_SIZE" | default 4 | add 2 -}}
{{- $console := get $values.settings "PADDOCK_CONSOLE_POOL_SIZE" | default 6 | int -}}
{{- $consoles := $values.console.enabled | ternary (add .more $values.console.replicas) 0 -}}
{{- $replicas := $values.ingress.autoscaling.enabled | ternary $values.ingress.autoscaling.maxReplicas $values.ingress.replicas -}}
{{- add (mul (add .more $replicas) $ingress) (mul (add .more $values.scheduler.replicas) $scheduler) (mul (add .more $values.reconciler.replicas) $reconciler) (mul $consoles $console) 2 -}}
{{- end -}}

{{/* How long a pod may take to end: the drain limit, and ten seconds for what comes after it. */}}
{{- define "paddock.terminationGracePeriodSeconds" -}}
{{- add 10 (div (get .Values.settings "PADDOCK_DRAIN_MS" | default 30000 | int) 1000) -}}
{{- end -}}
