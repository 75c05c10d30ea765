# SPDX-License-Identifier: Apache-2.0
# kubernetes.py — a schema for the part of Kubernetes' API that docs/deployment.md uses: the fields, which of them are
# required, and their values. Written from the API reference of apps/v1, policy/v1 and autoscaling/v2.
import re


class Field:
    """A value that a predicate accepts."""

    def __init__(self, says, accepts):
        self.says, self.accepts = says, accepts

    def complaints(self, value, path):
        if not self.accepts(value):
            yield f'{path}: {value!r} is not {self.says}'


class Struct:
    """A mapping with these fields and no others. A name that ends with __ means a required field."""

    def __init__(self, **fields):
        self.fields = {name.rstrip('_'): kind for name, kind in fields.items()}
        self.required = {name.rstrip('_') for name in fields if name.endswith('__')}

    def complaints(self, value, path):
        if not isinstance(value, dict):
            yield f'{path}: {value!r} is not a mapping'
            return
        for name in self.required - value.keys():
            yield f'{path}.{name} is missing'
        for name, content in value.items():
            if name in self.fields:
                yield from self.fields[name].complaints(content, f'{path}.{name}')
            else:
                yield f'{path}.{name}: there is no such field'


class List:
    def __init__(self, kind):
        self.kind = kind

    def complaints(self, value, path):
        if not isinstance(value, list) or not value:
            yield f'{path}: {value!r} is not a list of something'
            return
        for number, item in enumerate(value):
            yield from self.kind.complaints(item, f'{path}[{number}]')


def matching(says, pattern):
    return Field(says, lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None)


def one_of(*values):
    return Field(f'one of {values}', lambda value: value in values)


def number_from(least):
    return Field(f'a number from {least} on', lambda value: type(value) is int and value >= least)


text = Field('a text', lambda value: isinstance(value, str))
flag = Field('true or false', lambda value: isinstance(value, bool))
name = matching('a name of DNS', r'[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?')
path = matching('an absolute path', r'/[^:]*')
quantity = matching('a quantity', r'\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?')
count_or_share = Field('a number or a percentage', lambda value: type(value) is int and value >= 0 or
                       isinstance(value, str) and re.fullmatch(r'\d+%', value) is not None)
labels = Field('labels', lambda value: isinstance(value, dict) and value and all(isinstance(v, str) for v in value.values()))

metadata = Struct(name__=name, labels=labels)
selector = Struct(matchLabels__=labels)
probe = Struct(exec__=Struct(command__=List(text)), periodSeconds=number_from(1), timeoutSeconds=number_from(1),
               failureThreshold=number_from(1), initialDelaySeconds=number_from(0))
resources = Struct(requests=Struct(cpu=quantity, memory=quantity), limits=Struct(cpu=quantity, memory=quantity))
container = Struct(
    name__=name, image__=text, args=List(text), env=List(Struct(name__=matching('a name', r'[A-Za-z_][A-Za-z0-9_]*'), value=text)),
    resources=resources, startupProbe=probe, livenessProbe=probe, readinessProbe=probe,
    securityContext=Struct(readOnlyRootFilesystem=flag, allowPrivilegeEscalation=flag, capabilities=Struct(drop=List(text))),
    volumeMounts=List(Struct(name__=name, mountPath__=path)))
pod = Struct(
    terminationGracePeriodSeconds=number_from(0), automountServiceAccountToken=flag,
    securityContext=Struct(runAsNonRoot=flag, runAsUser=number_from(1), runAsGroup=number_from(1),
                           seccompProfile=Struct(type__=one_of('Localhost', 'RuntimeDefault', 'Unconfined'), localhostProfile=text)),
    containers__=List(container),
    volumes=List(Struct(name__=name, emptyDir__=Struct(medium=one_of('', 'Memory'), sizeLimit=quantity))))

KINDS = {
    ('apps/v1', 'Deployment'): Struct(
        replicas=number_from(0), selector__=selector, template__=Struct(metadata__=Struct(labels__=labels), spec__=pod),
        strategy=Struct(type__=one_of('RollingUpdate', 'Recreate'),
                        rollingUpdate=Struct(maxUnavailable=count_or_share, maxSurge=count_or_share))),
    ('policy/v1', 'PodDisruptionBudget'): Struct(maxUnavailable=count_or_share, minAvailable=count_or_share, selector__=selector),
    ('autoscaling/v2', 'HorizontalPodAutoscaler'): Struct(
        scaleTargetRef__=Struct(apiVersion__=text, kind__=text, name__=name), minReplicas=number_from(1), maxReplicas__=number_from(1),
        metrics=List(Struct(type__=one_of('Resource'), resource__=Struct(
            name__=one_of('cpu', 'memory'), target__=Struct(type__=one_of('Utilization', 'AverageValue'), averageUtilization=number_from(1)))))),
}


def complaints_about(document):
    kind = document.get('apiVersion'), document.get('kind')
    if kind not in KINDS:
        return [f'{kind}: not a kind that is known here']
    whole = Struct(apiVersion__=text, kind__=text, metadata__=metadata, spec__=KINDS[kind])
    return list(whole.complaints(document, document['kind']))
