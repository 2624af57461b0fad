{{/*
Refuses values that contradict each other, all at once. The schema refuses single values before. Each
line says the place, what is there, and what is allowed.
*/}}
{{- define "paddock.validate" -}}
{{- $found := list -}}
{{- range list "release" "labels" "image" "apps" "apiUrl" "pools" "entities" "database" "env" "ports" "autoscaling" "webhook" "console" -}}
{{- $found = append $found (include (printf "paddock.validate.%s" .) $) -}}
{{- end -}}
{{- with $found | join "\n" | splitList "\n" | compact -}}
{{- fail (printf "\n- %s" (join "\n- " .)) -}}
{{- end -}}
{{- end -}}

{{- define "paddock.validate.release" -}}
{{- if and (not .Values.fullnameOverride) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" .Release.Name)) }}
the release's name: it is {{ .Release.Name }}, which no Service can have; allowed: small letters, digits and - after a letter, or fullnameOverride
{{- end }}
{{- end -}}

{{- define "paddock.validate.labels" -}}
{{- $own := list "helm.sh/chart" "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" "app.kubernetes.io/component" "app.kubernetes.io/part-of" "app.kubernetes.io/managed-by" -}}
{{- range $place, $labels := dict "commonLabels" .Values.commonLabels "ingress.podLabels" .Values.ingress.podLabels "scheduler.podLabels" .Values.scheduler.podLabels "reconciler.podLabels" .Values.reconciler.podLabels "console.podLabels" .Values.console.podLabels }}
{{- range $own }}{{ if hasKey $labels . }}
{{ $place }}: it has {{ . }}, which the chart gives; allowed: other labels
{{- end }}{{ end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.image" -}}
{{- if not .Values.image.registry }}
{{- $without := list -}}
{{- $off := include "paddock.off" . | fromYaml -}}
{{- range list "ingress" "scheduler" "reconciler" "console" "migrate" -}}
{{- if not (or (index $.Values.image .).repository (get $off .)) }}{{ $without = append $without . }}{{ end -}}
{{- end -}}
{{- with $without }}
image.registry: it is empty, and there is no image of {{ . | join ", " }}; allowed: where your images are, such as registry.example.com/paddock (deploy/images pushes them there), or image.SERVICE.repository
{{- end }}
{{- end }}
{{- end -}}

{{/* Which of the programs do not run. */}}
{{- define "paddock.off" -}}
migrate: {{ not .Values.migration.enabled }}
console: {{ not .Values.console.enabled }}
{{- end -}}

{{- define "paddock.validate.apps" -}}
{{- if and (not .Values.ingress.replicas) (ne (.Values.config.github.intake | default "webhook") "log") }}
ingress.replicas: it is 0, and no delivery would be taken; allowed: at least 1, or config.github.intake: log
{{- end }}
{{- if not .Values.config.github.apps }}
config.github.apps: it is empty, and no service can start; allowed: your GitHub App, as [{ id: 123456, webhookSecret: { file: PATH }, privateKey: { file: PATH } }]
{{- end }}
{{- $places := dict -}}
{{- range $nth, $app := .Values.config.github.apps }}
{{- $place := printf "config.github.apps[%d]" $nth -}}
{{- $id := $app.id | int64 | toString -}}
{{- with get $places $id }}
{{ $place }}.id: {{ $id }} is the id of {{ . }} too; allowed: each App once
{{- end }}
{{- $_ := set $places $id $place -}}
{{- range $key := list "webhookSecret" "previousWebhookSecret" }}
{{- with get $app $key }}
{{- $source := toJson . -}}
{{- with get $places $source }}{{ if ne . $place }}
{{ $place }}.{{ $key }}: it is {{ $source }}, which is a secret of {{ . }} too; allowed: a secret of each App's own
{{- end }}{{ end }}
{{- $_ := set $places $source $place -}}
{{- end }}
{{- end }}
{{- range $key, $readers := include "paddock.readers" $ | fromYaml }}
{{- $isUnread := or (eq $key "previousWebhookSecret") (and (eq $key "webhookSecret") (not $.Values.ingress.replicas)) -}}
{{- if not (or (get $app $key) $isUnread) }}
{{ $place }}.{{ $key }}: it is missing, and {{ $readers | join " and " }} cannot start; allowed: { file: PATH } or { env: NAME }
{{- end }}
{{- range $reader := $readers }}
{{- include "paddock.validate.source" (dict "root" $ "place" (printf "%s.%s" $place $key) "source" (get $app $key | default dict) "service" $reader) }}
{{- end }}
{{- end }}
{{- end }}
{{- include "paddock.validate.source" (dict "root" $ "place" "config.notifications.webhook" "source" (dig "notifications" "webhook" dict .Values.config) "service" "reconciler") }}
{{- end -}}

{{/* The services refuse it at their start, and their pods would never be ready. */}}
{{- define "paddock.validate.apiUrl" -}}
{{- with .Values.config.github -}}
{{- $url := .apiUrl | default "https:" -}}
{{- $isPlain := regexMatch "^(?i:http:)" $url -}}
{{- if not (or (regexMatch "^(?i:https:)" $url) (and $isPlain .allowPlainHttp) (regexMatch `^(?i:http://(localhost|127[.][0-9.]+|\[::1\])(:\d+)?(/|$))` $url)) }}
config.github.apiUrl: it is {{ $url }}, and tokens would cross the network unencrypted; allowed: https://…, or, for http://…, allowPlainHttp: true beside it
{{- end }}
{{- end }}
{{- end -}}

{{/* Whether a service has the file or the variable of a secret. Takes root, place, source and service. */}}
{{- define "paddock.validate.source" -}}
{{- $values := index .root.Values .service -}}
{{- $folder := include "paddock.credentials" . -}}
{{- with .source.file }}
{{- $file := . -}}
{{- $known := has (trimPrefix (printf "/etc/paddock/%s/" $folder) $file) (include "paddock.keys" $ | fromJsonArray) -}}
{{- range $values.volumeMounts }}{{ if hasPrefix (trimSuffix "/" .mountPath) $file }}{{ $known = true }}{{ end }}{{ end -}}
{{- if not $known }}
{{ $.place }}.file: it is {{ $file }}, which {{ $.service }} does not mount; allowed: /etc/paddock/{{ $folder }}/KEY with credentials.{{ $folder }}.existingSecret, or a path below {{ $.service }}.volumeMounts
{{- end }}
{{- end }}
{{- with .source.env }}
{{- $names := list -}}
{{- range concat $.root.Values.env $values.env }}{{ $names = append $names .name }}{{ end -}}
{{- if not (has . $names) }}
{{ $.place }}.env: it is {{ . }}, a variable that {{ $.service }} does not have; allowed: a name in env or {{ $.service }}.env
{{- end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.database" -}}
{{- if .Values.evaluation.enabled }}
{{- with .Values.database.existingSecret.name }}
database.existingSecret.name: it is {{ . }}, and evaluation.enabled is true; allowed: one of both
{{- end }}
{{- if .Values.migration.hook }}
migration.hook: it is true, and evaluation.enabled too; allowed: false, for a hook runs before that database is there
{{- end }}
{{- else if not .Values.database.existingSecret.name }}
{{- $without := list -}}
{{- $off := include "paddock.off" . | fromYaml -}}
{{- range list "ingress" "scheduler" "reconciler" "console" "migrate" -}}
{{- if not (or (index $.Values.database.logins .).name (get $off .)) }}{{ $without = append $without . }}{{ end -}}
{{- end -}}
{{- with $without }}
database.existingSecret.name: it is empty, and {{ . | join ", " }} has no DSN; allowed: a Secret's name, a login of each service in database.logins, or evaluation.enabled
{{- end }}
{{- end }}
{{- with .Values.database.certificateAuthority }}{{ if and .configMap .secret }}
database.certificateAuthority: configMap is {{ .configMap }} and secret is {{ .secret }}; allowed: one of both
{{- end }}{{ end }}
{{- end -}}

{{/* The chart derives ports, the grace period and NOTES from these, so it must know them. */}}
{{- define "paddock.validate.env" -}}
{{- $elsewhere := dict "DATABASE_URL" "database.existingSecret or database.logins" "PADDOCK_CONFIG" "config" -}}
{{- range list "PADDOCK_DRAIN_MS" "PADDOCK_PUBLIC_PORT" "PADDOCK_HEALTH_PORT" "PADDOCK_CONSOLE_PATH_PREFIX" "PADDOCK_INGRESS_POOL_SIZE" "PADDOCK_SCHEDULER_POOL_SIZE" "PADDOCK_RECONCILER_POOL_SIZE" "PADDOCK_CONSOLE_POOL_SIZE" -}}
{{- $_ := set $elsewhere . (printf "settings.%s" .) -}}
{{- end -}}
{{- range $place, $env := dict "env" .Values.env "ingress.env" .Values.ingress.env "scheduler.env" .Values.scheduler.env "reconciler.env" .Values.reconciler.env "console.env" .Values.console.env "migration.env" .Values.migration.env }}
{{- range $env }}
{{- $name := .name }}
{{- with get $elsewhere $name }}
{{ $place }}: it has {{ $name }}; allowed: {{ . }} instead
{{- end }}
{{- if hasKey $.Values.settings $name }}
{{ $place }}: it has {{ $name }}, and settings too; allowed: one of both
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.ports" -}}
{{- $ports := include "paddock.ports" . | fromYaml -}}
{{- if eq (int $ports.ingress.webhook) (int $ports.ingress.health) }}
settings.PADDOCK_HEALTH_PORT: {{ $ports.ingress.health }} is the webhook's port (PADDOCK_PUBLIC_PORT) too; allowed: another one
{{- end }}
{{- if eq (int $ports.console.page) (int $ports.console.health) }}
settings.PADDOCK_HEALTH_PORT: {{ $ports.console.health }} is the page's port (PADDOCK_PUBLIC_PORT) too; allowed: another one
{{- end }}
{{- end -}}

{{- define "paddock.validate.autoscaling" -}}
{{- with .Values.ingress.autoscaling }}{{ if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
ingress.autoscaling.minReplicas: it is {{ .minReplicas }}; allowed: at most maxReplicas, which is {{ .maxReplicas }}
{{- end }}
{{- if not (dig "requests" "cpu" "" $.Values.ingress.resources) }}
ingress.resources.requests.cpu: it is empty, and the autoscaler measures by it; allowed: an amount such as 100m
{{- end }}
{{- end }}{{ end }}
{{- end -}}

{{- define "paddock.validate.webhook" -}}
{{- include "paddock.validate.ways" (dict "place" "webhook" "values" .Values.webhook "callers" "GitHub reaches the webhook") }}
{{- end -}}

{{- define "paddock.validate.console" -}}
{{- if .Values.console.enabled }}
{{- with .Values.console.signIn }}
{{- if not (or (dig "groups" "read" "" .) (dig "groups" "operate" "" .)) }}
console.signIn.groups: it names no group, so nobody could sign in; allowed: { read: [GROUP], operate: [GROUP] }, and read: ['*'] for everybody
{{- end }}
{{- if not (or .oidc .proxy) }}
console.signIn: nobody says who people are; allowed: oidc, or proxy, beside groups
{{- end }}
{{- include "paddock.validate.source" (dict "root" $ "place" "console.signIn.oidc.clientSecret" "source" (dig "oidc" "clientSecret" dict .) "service" "console") }}
{{- end }}
{{- include "paddock.validate.ways" (dict "place" "console" "values" .Values.console "callers" "people reach the console") }}
{{- end }}
{{- end -}}

{{/* The Ingress and the route of a Service. Takes place, values and callers. */}}
{{- define "paddock.validate.ways" -}}
{{- if and .values.ingress.enabled (not .values.ingress.host) }}
{{ .place }}.ingress.host: it is empty; allowed: the name by which {{ .callers }}
{{- end }}
{{- if .values.gateway.enabled }}
{{- if not .values.gateway.hostnames }}
{{ .place }}.gateway.hostnames: it is empty; allowed: the names by which {{ .callers }}
{{- end }}
{{- if not .values.gateway.parentRefs }}
{{ .place }}.gateway.parentRefs: it is empty; allowed: the Gateways of the route, as [{ name: public, namespace: gateways }]
{{- end }}
{{- end }}
{{- end -}}
